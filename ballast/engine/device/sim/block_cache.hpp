#pragma once
// What an allocator keeps of the blocks that it was given back, by size. Bookkeeping alone: nothing
// lies behind a kept block.

#include <cstdint>
#include <map>

#include "ballast/engine/core/bytes.hpp"

namespace ballast::device::sim {

/// Not thread-safe.
class BlockCache {
public:
    [[nodiscard]] Bytes bytes() const { return bytes_; }

    void keep(Bytes block) {
        ++blocks_[block];
        bytes_ += block;
    }

    /// Takes a block of that very size out, if there is one.
    bool reuse(Bytes block) {
        const auto found = blocks_.find(block);
        if (found == blocks_.end()) return false;
        if (--found->second == 0) blocks_.erase(found);
        bytes_ = bytes_.minus_or_zero(block);
        return true;
    }

    /// Lets all of them go; returns how much that was.
    Bytes release() {
        const auto released = bytes_;
        blocks_.clear();
        bytes_ = {};
        return released;
    }

private:
    std::map<Bytes, std::uint64_t> blocks_;  // size -> how many
    Bytes bytes_{};
};

}  // namespace ballast::device::sim
