#include "ballast/engine/machine/discovery/shared_library.hpp"

#include <dlfcn.h>

#include <utility>

namespace ballast::machine {

std::optional<SharedLibrary> SharedLibrary::open(std::span<const std::string> names) {
    for (const auto& name : names) {
        if (name.empty()) continue;  // the system would open the program itself
        void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr) return SharedLibrary(handle, name);
    }
    return std::nullopt;
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      name_(std::move(other.name_)),
      is_kept_(other.is_kept_) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
    if (this == &other) return *this;
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    name_ = std::move(other.name_);
    is_kept_ = other.is_kept_;
    return *this;
}

SharedLibrary::~SharedLibrary() { close(); }

void* SharedLibrary::address(const char* symbol) const {
    return handle_ != nullptr ? ::dlsym(handle_, symbol) : nullptr;
}

void SharedLibrary::close() {
    if (handle_ != nullptr && !is_kept_) ::dlclose(handle_);
    handle_ = nullptr;
}

}  // namespace ballast::machine
