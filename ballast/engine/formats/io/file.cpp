#include "ballast/engine/formats/io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ballast::formats {
namespace {

Error system_error(const std::filesystem::path& path, std::string what, int number) {
    const bool is_missing = number == ENOENT || number == ENOTDIR;
    return Error{.code = is_missing ? Code::not_found : Code::io,
                 .what = std::move(what),
                 .why = is_missing ? "there is no such file" : std::strerror(number),
                 .place = {.file = path.string()},
                 .hint = number == EACCES ? "check the file's permissions" : ""};
}

}  // namespace

Result<File> File::open(const std::filesystem::path& path) {
    // without O_NONBLOCK opening a pipe would wait for a writer
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return fail(system_error(path, "cannot open the file", errno));
    File file(path, descriptor, {});
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0)
        return fail(system_error(path, "cannot open the file", errno));
    if (!S_ISREG(facts.st_mode)) {
        return fail(Error{.code = Code::io,
                          .what = "cannot open the file",
                          .why = S_ISDIR(facts.st_mode) ? "it is a folder" : "it is not a file",
                          .place = {.file = path.string()}});
    }
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
    const auto end = offset;
    while (!destination.empty()) {
        const auto got = ::pread(descriptor_, destination.data(), destination.size(),
                                 static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            auto error = system_error(path_, "cannot read the file", errno);
            error.place.offset = offset;
            return fail(std::move(error));
        }
        if (got == 0) {
            return fail(Error{.code = Code::corrupt_file,
                              .what = "cannot read the file",
                              .why = "it ends " + std::to_string(destination.size()) +
                                     " bytes too early for a read that starts at " +
                                     std::to_string(end),
                              .place = {.file = path_.string(), .offset = offset},
                              .hint = "the file was cut or replaced; fetch it again"});
        }
        destination = destination.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return {};
}

Result<std::shared_ptr<const Mapping>> Mapping::map(const File& file) {
    const auto size = file.size().count();
    if (size == 0) return std::shared_ptr<const Mapping>(new Mapping({}));
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (memory == MAP_FAILED)
        return fail(system_error(file.path(), "cannot map the file", errno));
    return std::shared_ptr<const Mapping>(new Mapping({static_cast<std::byte*>(memory), size}));
}

Mapping::~Mapping() {
    if (bytes_.empty()) return;
    // mmap gave writable-typed memory; the const is ours
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());  // NOLINT
}

}  // namespace ballast::formats
