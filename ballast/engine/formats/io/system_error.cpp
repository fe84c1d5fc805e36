#include "ballast/engine/formats/io/system_error.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace ballast::formats {
namespace {

std::string hint_for(int number) {
    switch (number) {
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
    // not strerror: it may share one buffer among threads
    auto why = std::generic_category().message(number);
    return Error{.code = is_missing ? Code::not_found : Code::io,
                 .what = std::move(what),
                 .why = is_missing ? "there is no such file" : std::move(why),
                 .place = {.file = path.string()},
                 .hint = is_missing ? "check the path" : hint_for(number)};
}

}  // namespace ballast::formats
