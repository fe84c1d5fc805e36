#pragma once
// How the weight store gets at a file's bytes. One behaviour suite runs over all readers.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast::formats {

class Reader {
public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    virtual ~Reader() = default;

    /// Fills `destination` from `offset` on; from any thread. Fails with `corrupt_file` when the
    /// file ends first, with `io` when the system refuses; `destination` then holds anything.
    virtual Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const = 0;
};

/// positioned: plain reads, the faster on most disks. map: copies out of a map of the file, which
/// is best when the page cache holds it already.
enum class ReaderKind { positioned, map };
std::string_view to_string(ReaderKind kind);

/// Fails as `File::open` does.
Result<std::shared_ptr<const Reader>> open_reader(const std::filesystem::path& path,
                                                  ReaderKind kind);

}  // namespace ballast::formats
