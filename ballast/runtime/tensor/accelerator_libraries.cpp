#include "ballast/runtime/tensor/accelerator_libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <climits>
#include <optional>

namespace ballast::runtime {
namespace {

constexpr std::array kNames{"libtorch_cuda.so", "libtorch_hip.so", "libtorch_xpu.so"};

/// Where the libtorch in use lies; nothing if it is no file of its own.
std::optional<std::filesystem::path> folder_of_torch() {
    void* torch = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (torch == nullptr) return std::nullopt;
    std::array<char, PATH_MAX> folder{};
    const bool is_known = ::dlinfo(torch, RTLD_DI_ORIGIN, folder.data()) == 0;
    ::dlclose(torch);
    if (!is_known) return std::nullopt;
    return std::filesystem::path(folder.data());
}

}  // namespace

AcceleratorLibraries load_accelerator_libraries() {
    const auto folder = folder_of_torch();
    return folder ? load_accelerator_libraries(*folder) : AcceleratorLibraries{};
}

AcceleratorLibraries load_accelerator_libraries(const std::filesystem::path& folder) {
    AcceleratorLibraries libraries;
    for (const std::string name : kNames) {
        const auto path = folder / name;
        if (std::error_code ignored; !std::filesystem::exists(path, ignored)) continue;
        // never closed: what it registered with torch stays
        if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) {
            libraries.opened.push_back(name);
            continue;
        }
        const char* reason = ::dlerror();
        Error error{.code = Code::not_available,
                    .what = "cannot use the accelerators of this libtorch",
                    .why = reason == nullptr ? "it cannot be opened" : reason,
                    .hint =
                        "install the driver and libraries that this libtorch was built for, "
                        "or a libtorch for this machine"};
        error.place.file = path.string();
        libraries.failures.push_back(std::move(error));
    }
    return libraries;
}

}  // namespace ballast::runtime
