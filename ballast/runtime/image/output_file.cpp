#include "ballast/runtime/image/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace ballast::runtime::image {

namespace {

std::string remedy(int fault) {
    switch (fault) {
        case ENOSPC:
        case EFBIG:
        case EDQUOT: return "free some space there, or choose another output folder";
        case EACCES:
        case EPERM:
        case EROFS: return "choose an output folder that you may write to";
        case ENOENT: return "make its folder first";
        case ENAMETOOLONG: return "choose a shorter filename prefix";
        default: return {};
    }
}

Error cannot_write(const std::filesystem::path& path, int fault) {
    Error error;
    error.code = fault == ENOENT ? Code::not_found : Code::io;
    error.what = "cannot write the picture";
    error.why = std::generic_category().message(fault);
    error.place.file = path.string();
    error.hint = remedy(fault);
    return error;
}

/// 0, or the errno of what failed.
int write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int create(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

}  // namespace

Result<void> write_output(const std::filesystem::path& path, std::string_view bytes) {
    auto beside = path;
    beside += fmt::format(".part-{}", ::getpid());
    int file = create(beside);
    if (file < 0 && errno == EEXIST) {  // left by an earlier process that had our number
        ::unlink(beside.c_str());
        file = create(beside);
    }
    if (file < 0) return fail(cannot_write(path, errno));
    int fault = write_all(file, bytes);
    if (::close(file) != 0 && fault == 0) fault = errno;
    if (fault == 0 && ::rename(beside.c_str(), path.c_str()) != 0) fault = errno;
    if (fault == 0) return {};
    ::unlink(beside.c_str());
    return fail(cannot_write(path, fault));
}

}  // namespace ballast::runtime::image
