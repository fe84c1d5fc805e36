#pragma once
// A file as memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ballast/engine/formats/io/file.hpp"

namespace ballast::formats {

/// A whole file mapped read-only. Pages that are in memory belong to the page cache and can be
/// dropped by the system at any time, so a map is not charged to the ledger. The file may be
/// deleted meanwhile; touching a part that somebody cut off ends the process (SIGBUS), so ask
/// `File::check_range` first.
class Mapping {
public:
    /// Fails with `io`. An empty file gives an empty map.
    static Result<std::shared_ptr<const Mapping>> map(const File& file);

    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

    /// Lets the system begin to read this part, which must lie inside the map. Reading cold pages
    /// one fault at a time is several times slower than a disk can.
    void expect_use(std::uint64_t offset, std::uint64_t size) const;

private:
    explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
};

}  // namespace ballast::formats
