#include "ballast/engine/core/write_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ballast {
namespace {

std::string remedy(int fault) {
    switch (fault) {
        case ENOSPC:
        case EFBIG:
        case EDQUOT: return "free some space there, or choose another folder";
        case EACCES:
        case EPERM:
        case EROFS: return "choose a folder that you may write to";
        case ENOENT: return "make its folder first";
        case ENAMETOOLONG: return "choose a shorter name";
        default: return {};
    }
}

Error cannot_write(const std::filesystem::path& path, std::string_view what, int fault) {
    return {.code = fault == ENOENT ? Code::not_found : Code::io,
            .what = fmt::format("cannot write the {}", what),
            .why = std::generic_category().message(fault),
            .place = {.file = path.string()},
            .hint = remedy(fault)};
}

/// 0, or the errno of what failed. Closes `file` in any case.
int write_and_close(int file, std::string_view bytes) {
    int fault = 0;
    while (!bytes.empty() && fault == 0) {
        const auto written = ::write(file, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            fault = errno;
        }
    }
    if (::close(file) != 0 && fault == 0) fault = errno;
    return fault;
}

int create(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// 0, or the errno of what failed.
int replace(const std::filesystem::path& target, std::string_view bytes) {
    auto beside = target;
    beside += fmt::format(".part-{}", ::getpid());
    int file = create(beside);
    if (file < 0 && errno == EEXIST) {  // left by an earlier process that had our number
        ::unlink(beside.c_str());
        file = create(beside);
    }
    if (file < 0) return errno;
    int fault = write_and_close(file, bytes);
    if (fault == 0 && ::rename(beside.c_str(), target.c_str()) != 0) fault = errno;
    if (fault != 0) ::unlink(beside.c_str());
    return fault;
}

/// For devices and pipes (/dev/null, /dev/stderr), which renaming would replace.
int write_directly(const std::filesystem::path& path, std::string_view bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return file < 0 ? errno : write_and_close(file, bytes);
}

}  // namespace

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes,
                        std::string_view what) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    const bool is_there = std::filesystem::exists(status);
    const int fault =
        is_there && !std::filesystem::is_regular_file(status)
            ? write_directly(path, bytes)
            : replace(is_there ? std::filesystem::canonical(path, ignored) : path, bytes);
    if (fault != 0) return fail(cannot_write(path, what, fault));
    return {};
}

}  // namespace ballast
