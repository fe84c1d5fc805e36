#include "ballast/engine/core/system_error.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace ballast {
namespace {

/// What the system's own words say less clearly.
std::string reason_for(int number) {
    switch (number) {
        case ENOENT:
        case ENOTDIR: return "there is no such file";
        case EISDIR: return "it is a folder";
        default: return system_reason(number);
    }
}

std::string hint_for(int number) {
    switch (number) {
        case ENOENT:
        case ENOTDIR: return "check the path";
        case EISDIR: return "name a file inside it";
        case EACCES:
        case EPERM: return "check who may read the file and the folders above it";
        case EMFILE:
        case ENFILE: return "too many files are open: raise the limit (ulimit -n)";
        case EIO: return "the disk could not be read: check its health, copy the file elsewhere";
        default: return {};
    }
}

}  // namespace

Error system_error(const std::filesystem::path& path, std::string what, int number) {
    const bool is_missing = number == ENOENT || number == ENOTDIR;
    return Error{.code = is_missing ? Code::not_found : Code::io,
                 .what = std::move(what),
                 .why = reason_for(number),
                 .place = {.file = path.string()},
                 .hint = hint_for(number)};
}

std::string system_reason(int number) { return std::generic_category().message(number); }

}  // namespace ballast
