#pragma once
// An open file, read by position.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "ballast/engine/core/bytes.hpp"

namespace ballast::formats {

/// A regular file open for reading. Move-only; closes on destruction. Reads may come from any
/// number of threads at once.
class File {
public:
    /// Never waits (for the writer of a pipe, say). Fails with `not_found`, or with `io` (a folder,
    /// no permission, too many open files).
    static Result<File> open(const std::filesystem::path& path);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// The size at the time of opening.
    [[nodiscard]] Bytes size() const { return size_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

    /// Fills `destination` from `offset` on. Fails with `corrupt_file` when the file ends first
    /// (by its size when it was opened, or since somebody cut it), with `io` when the system
    /// refuses; `destination` then holds anything.
    Result<void> read_at(std::uint64_t offset, std::span<std::byte> destination) const;

    /// Fails as `read_at` would if the `size` bytes from `offset` on do not lie in the file as it
    /// is now.
    Result<void> check_range(std::uint64_t offset, std::uint64_t size) const;

private:
    File(std::filesystem::path path, int descriptor, Bytes size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

    std::filesystem::path path_;
    int descriptor_ = -1;
    Bytes size_;
};

}  // namespace ballast::formats
