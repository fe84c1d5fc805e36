#include "ballast/engine/formats/io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "ballast/engine/core/system_error.hpp"

namespace ballast::formats {
namespace {

constexpr auto kCannotOpen = "cannot open the file";
constexpr auto kCannotRead = "cannot read the file";

Error ends_early(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t size,
                 std::uint64_t present) {
    return Error{.code = Code::corrupt_file,
                 .what = kCannotRead,
                 .why = fmt::format("truncated: {} bytes are wanted here, but the file ends at {}",
                                    size, present),
                 .place = {.file = path.string(), .offset = offset},
                 .hint = "the file was cut off or replaced: fetch it again"};
}

Error not_regular(const std::filesystem::path& path, bool is_folder) {
    return Error{.code = Code::io,
                 .what = kCannotOpen,
                 .why = is_folder ? "it is a folder" : "it is no regular file",
                 .place = {.file = path.string()},
                 .hint = is_folder ? "name a file inside it" : "copy its content into a file"};
}

}  // namespace

Result<File> File::open(const std::filesystem::path& path) {
    // the system would stop reading the name there and open another file
    if (path.native().find('\0') != std::string::npos)
        return fail(system_error(path, kCannotOpen, ENOENT));
    // without O_NONBLOCK opening a pipe would wait for a writer
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return fail(system_error(path, kCannotOpen, errno));
    File file(path, descriptor, {});
    struct stat facts{};
    if (::fstat(descriptor, &facts) != 0) return fail(system_error(path, kCannotOpen, errno));
    if (!S_ISREG(facts.st_mode)) return fail(not_regular(path, S_ISDIR(facts.st_mode)));
    file.size_ = Bytes{static_cast<std::uint64_t>(facts.st_size)};
    return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

File& File::operator=(File&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> File::read_at(std::uint64_t offset, std::span<std::byte> destination) const {
    const auto begin = offset;
    const auto wanted = destination.size();
    if (offset > size_.count() || wanted > size_.count() - offset)
        return fail(ends_early(path_, begin, wanted, size_.count()));
    while (!destination.empty()) {
        const auto got = ::pread(descriptor_, destination.data(), destination.size(),
                                 static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            auto error = system_error(path_, kCannotRead, errno);
            error.place.offset = offset;
            return fail(std::move(error));
        }
        if (got == 0) return fail(ends_early(path_, begin, wanted, offset));
        destination = destination.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return {};
}

Result<void> File::check_range(std::uint64_t offset, std::uint64_t size) const {
    struct stat facts{};
    if (::fstat(descriptor_, &facts) != 0) return fail(system_error(path_, kCannotRead, errno));
    const auto present = std::min(size_.count(), static_cast<std::uint64_t>(facts.st_size));
    if (offset > present || size > present - offset)
        return fail(ends_early(path_, offset, size, present));
    return {};
}

}  // namespace ballast::formats
