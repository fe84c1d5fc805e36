#include "ballast/cli/runtime_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace ballast::cli {
namespace {

constexpr const char* kLibraryName = "libballast_runtime.so";

Error cannot_open(const std::filesystem::path& library, Code code, std::string why,
                  std::string hint) {
    return {.code = code,
            .what = "cannot open the runtime",
            .why = std::move(why),
            .place = {.file = library.string()},
            .hint = std::move(hint)};
}

Error loading_error(const std::filesystem::path& library) {
    const char* reason = ::dlerror();
    std::string why = reason != nullptr ? reason : "the system gives no reason";
    // the reason begins with the path that was opened, which the error names already
    const auto path = std::filesystem::absolute(library).string() + ": ";
    if (why.starts_with(path)) why.erase(0, path.size());
    const auto has = [&why](std::string_view part) { return why.find(part) != std::string::npos; };
    if (has("failed to map segment") || has("annot allocate memory") ||
        has("annot create shared object descriptor"))
        return cannot_open(library, Code::out_of_memory, std::move(why),
                           "the address space of the program is limited: raise it, for example "
                           "with ulimit -v unlimited");
    const bool lacks_torch = has("libtorch") || has("libc10");
    return cannot_open(library, Code::not_found, std::move(why),
                       lacks_torch
                           ? "libtorch moved or is missing: run scripts/setup.sh again, or add its "
                             "lib folder to LD_LIBRARY_PATH"
                           : "run scripts/setup.sh, or name the library with --runtime-library");
}

}  // namespace

Result<std::filesystem::path> find_runtime_library(const std::filesystem::path& chosen) {
    std::error_code fault;
    if (!chosen.empty()) {
        if (std::filesystem::exists(chosen, fault)) return chosen;
        return fail(cannot_open(chosen, Code::not_found, "there is no such file",
                                "--runtime-library or BALLAST_RUNTIME_LIBRARY names it"));
    }
    const auto program = std::filesystem::read_symlink("/proc/self/exe", fault);
    const auto folder = program.parent_path();
    for (const auto& candidate :
         {folder / kLibraryName, folder.parent_path() / "lib" / kLibraryName})
        if (std::filesystem::exists(candidate, fault)) return candidate;
    return fail(
        cannot_open(kLibraryName, Code::not_found,
                    fmt::format("it is neither in {} nor in {}", folder.string(),
                                (folder.parent_path() / "lib").string()),
                    "this program may have been built without the runtime (BALLAST_RUNTIME=OFF); "
                    "scripts/setup.sh builds both"));
}

Result<std::unique_ptr<graph::Runtime>> open_runtime(const std::filesystem::path& library,
                                                     const graph::RuntimeOptions& options) {
    ::setenv("OMP_WAIT_POLICY", "passive", 0);
    // a name without a slash would be searched for in the system's folders
    const auto path = std::filesystem::absolute(library);
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return fail(loading_error(library));
    const auto entry =
        reinterpret_cast<graph::RuntimeEntry>(::dlsym(handle, graph::kRuntimeEntryName));
    if (entry == nullptr)
        return fail(cannot_open(library, Code::unsupported, "it is no runtime of Ballast",
                                "leave --runtime-library and BALLAST_RUNTIME_LIBRARY out"));
    Error error;
    std::unique_ptr<graph::Runtime> runtime(entry(graph::kRuntimeInterface, options, &error));
    if (runtime) return runtime;
    if (error.what.empty())
        return fail(cannot_open(library, Code::unsupported,
                                fmt::format("it is of another version than this program, whose "
                                            "runtime has interface {}",
                                            graph::kRuntimeInterface),
                                "install program and runtime from the same build"));
    return fail(std::move(error));
}

}  // namespace ballast::cli
