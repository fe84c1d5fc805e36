#pragma once
// An open file and the two ways of getting at its bytes: positioned reads and a read-only map.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "ballast/engine/core/bytes.hpp"

namespace ballast::formats {

/// A regular file open for reading. Move-only; closes on destruction. Reads may come from any
/// number of threads at once.
class File {
public:
    /// Fails with `not_found` or `io` (a directory, no permission).
    static Result<File> open(const std::filesystem::path& path);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] Bytes size() const { return size_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

    /// Fills `destination` from `offset` on. Fails with `corrupt_file` when the file ends first,
    /// with `io` when the system refuses.
    Result<void> read_at(std::uint64_t offset, std::span<std::byte> destination) const;

private:
    File(std::filesystem::path path, int descriptor, Bytes size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

    std::filesystem::path path_;
    int descriptor_ = -1;
    Bytes size_;
};

/// A whole file mapped read-only. Pages that are in memory belong to the page cache and can be
/// dropped by the system at any time, so a map is not charged to the ledger.
class Mapping {
public:
    static Result<std::shared_ptr<const Mapping>> map(const File& file);

    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
};

/// How the weight store gets at a file's bytes. One behaviour suite runs over all readers.
class Reader {
public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    virtual ~Reader() = default;

    [[nodiscard]] virtual Bytes size() const = 0;
    /// As `File::read_at`; thread-safe.
    virtual Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const = 0;
};

enum class ReaderKind { positioned, map };
Result<std::shared_ptr<const Reader>> open_reader(const std::filesystem::path& path,
                                                  ReaderKind kind);

}  // namespace ballast::formats
