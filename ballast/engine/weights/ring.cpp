#include "ballast/engine/weights/ring.hpp"

#include <algorithm>

namespace ballast::weights {

Ring::Ring(device::Memory memory) : memory_(std::move(memory)) {}

std::span<std::byte> Ring::bytes(std::size_t slot) const {
    const auto size = memory_.size() / kSlots;
    return {memory_.data() + slot * size, size};
}

Result<std::size_t> Ring::acquire(plan::BlockId block,
                                  const std::function<Result<void>(std::span<std::byte>)>& fill) {
    const std::scoped_lock lock(mutex_);
    auto found = std::ranges::find(slots_, block, &Slot::block);
    if (found == slots_.end()) {
        for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
            const bool is_older = found == slots_.end() || slot->used_at < found->used_at;
            if (slot->users == 0 && is_older) found = slot;
        }
        if (found == slots_.end())
            return fail(Error{.code = Code::out_of_memory,
                              .what = "cannot bring a block to the compute device",
                              .why = "both slots of the ring are in use",
                              .hint = "report this as a fault of Ballast"});
        found->block.reset();  // whatever happens, the old one is gone
        const auto slot = static_cast<std::size_t>(found - slots_.begin());
        if (auto filled = fill(bytes(slot)); !filled) return tl::unexpected(filled.error());
        found->block = block;
    }
    ++found->users;
    found->used_at = ++turn_;
    return static_cast<std::size_t>(found - slots_.begin());
}

void Ring::release(std::size_t slot) noexcept {
    const std::scoped_lock lock(mutex_);
    --slots_[slot].users;
}

}  // namespace ballast::weights
