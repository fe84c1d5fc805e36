#include "ballast/engine/core/write_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace ballast {
namespace {

std::string remedy(int fault) {
    switch (fault) {
        case ENOSPC:
        case EDQUOT: return "free some space there, or choose another folder";
        case EFBIG:
            return "raise the limit on the size of files (ulimit -f), or choose another folder";
        case EACCES:
        case EPERM:
        case EROFS: return "choose a folder that you may write to";
        case ENOENT: return "make its folder first";
        case ENAMETOOLONG: return "choose a shorter name";
        case EINVAL: return "choose a name without a zero character";
        case EBUSY: return "remove the files whose names begin with .part- there";
        case ELOOP: return "remove the link, which leads back to itself";
        default: return {};
    }
}

Code code_of(int fault) {
    switch (fault) {
        case ENOENT: return Code::not_found;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case EIO: return Code::write_failed;
        default: return Code::io;
    }
}

Error cannot_write(const std::filesystem::path& path, std::string_view what, int fault) {
    return {.code = code_of(fault),
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

/// How a finished file gets its name: 0, or the errno of what failed.
using Naming = int (*)(const char* from, const char* to);

int replacing(const char* from, const char* to) { return ::rename(from, to) == 0 ? 0 : errno; }

int replacing_nothing(const char* from, const char* to) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
    // file systems that cannot: take the name with an empty file, which is ours to replace
    const int claim = create(to);
    if (claim < 0) return errno;
    ::close(claim);
    const int fault = replacing(from, to);
    if (fault != 0) ::unlink(to);
    return fault;
}

/// More parts in one folder than any number of writers leave.
constexpr int kMostParts = 10'000;

/// 0, or the errno of what failed.
int write_beside(const std::filesystem::path& target, std::string_view bytes, Naming name) {
    // the system would stop reading the name there and write another file
    if (target.native().find('\0') != std::string::npos) return EINVAL;
    std::filesystem::path beside;
    int file = -1;
    // a part that is there belongs to somebody: a thread of ours, or a process that has our number
    // on another machine; one left by a crash is passed over, too
    for (int number = 0; file < 0 && number < kMostParts; ++number) {
        // a name of its own, since the target's may be as long as names can be
        beside = target.parent_path() / fmt::format(".part-{}-{}", ::getpid(), number);
        file = create(beside);
        if (file < 0 && errno != EEXIST) return errno;
    }
    if (file < 0) return EBUSY;
    int fault = write_and_close(file, bytes);
    if (fault == 0) fault = name(beside.c_str(), target.c_str());
    if (fault != 0) ::unlink(beside.c_str());
    return fault;
}

/// Replaces a link by what it means, whether that exists or not. 0, or the errno of what failed.
int follow(std::filesystem::path& path) {
    constexpr int kMost = 40;  // as many as the system itself follows
    for (int i = 0; i < kMost; ++i) {
        std::error_code fault;
        if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, fault))) return 0;
        const auto meant = std::filesystem::read_symlink(path, fault);
        if (fault) return fault.value();
        path = path.parent_path() / meant;  // an absolute one stands for itself
    }
    return ELOOP;
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
    int fault = 0;
    if (is_there && !std::filesystem::is_regular_file(status)) {
        fault = write_directly(path, bytes);
    } else {
        auto target = path;
        fault = follow(target);
        if (fault == 0) fault = write_beside(target, bytes, replacing);
    }
    if (fault != 0) return fail(cannot_write(path, what, fault));
    return {};
}

Result<bool> write_new_file(const std::filesystem::path& path, std::string_view bytes,
                            std::string_view what) {
    const int fault = write_beside(path, bytes, replacing_nothing);
    if (fault != 0 && fault != EEXIST) return fail(cannot_write(path, what, fault));
    return fault == 0;
}

}  // namespace ballast
