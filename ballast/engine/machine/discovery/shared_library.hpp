#pragma once
// A shared library that may be missing, opened while the program runs.

#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace ballast::machine {

/// An open library; destroying it closes it. Move-only.
class SharedLibrary {
public:
    /// The first of `names` that can be opened (all symbols bound now, none made public). A name
    /// without a slash is looked for where the system keeps libraries.
    static std::optional<SharedLibrary> open(std::span<const std::string> names);

    SharedLibrary(SharedLibrary&& other) noexcept;
    SharedLibrary& operator=(SharedLibrary&& other) noexcept;
    SharedLibrary(const SharedLibrary&) = delete;
    SharedLibrary& operator=(const SharedLibrary&) = delete;
    ~SharedLibrary();

    [[nodiscard]] const std::string& name() const { return name_; }

    /// The function of that name, or null. Its type is the caller's word: nothing can check it.
    template <typename Function>
    [[nodiscard]] Function* find(const char* symbol) const {
        static_assert(std::is_function_v<Function>);
        return reinterpret_cast<Function*>(address(symbol));
    }

    /// Leaves the library in the process for good. Drivers that were started have threads and exit
    /// handlers of their own, which do not survive being unloaded.
    void keep_loaded() { is_kept_ = true; }

private:
    SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
    [[nodiscard]] void* address(const char* symbol) const;
    void close();

    void* handle_ = nullptr;
    std::string name_;
    bool is_kept_ = false;
};

/// Calls a driver's function, which may be missing, and whose result 0 is success.
template <typename... Parameters>
bool succeeds(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments) {
    return function != nullptr && function(arguments...) == 0;
}

}  // namespace ballast::machine
