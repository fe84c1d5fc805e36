#include "ballast/cli/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ballast::cli {
namespace {

Error cannot_write(const std::filesystem::path& path, int fault) {
    return {.code = fault == ENOENT ? Code::not_found : Code::io,
            .what = "cannot write the file",
            .why = std::generic_category().message(fault),
            .place = {.file = path.string()},
            .hint = fault == ENOENT ? "make its folder first" : ""};
}

/// 0, or the errno of what failed.
int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// Devices and pipes (/dev/null, /dev/stderr) are written to; renaming would replace them.
Result<void> write_directly(const std::filesystem::path& path, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return fail(cannot_write(path, errno));
    int fault = write_all(file, text);
    if (::close(file) != 0 && fault == 0) fault = errno;
    if (fault != 0) return fail(cannot_write(path, fault));
    return {};
}

}  // namespace

Result<void> write_file(const std::filesystem::path& path, std::string_view text) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return write_directly(path, text);
    // through links to the file that they mean
    const auto target =
        std::filesystem::exists(status) ? std::filesystem::canonical(path, ignored) : path;
    auto beside = target;
    beside += fmt::format(".part-{}", ::getpid());
    const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return fail(cannot_write(path, errno));
    int fault = write_all(file, text);
    if (::close(file) != 0 && fault == 0) fault = errno;
    if (fault == 0 && ::rename(beside.c_str(), target.c_str()) != 0) fault = errno;
    if (fault == 0) return {};
    ::unlink(beside.c_str());
    return fail(cannot_write(path, fault));
}

}  // namespace ballast::cli
