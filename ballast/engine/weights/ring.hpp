#pragma once
// Room on the compute device for blocks that live elsewhere: two slots, so that one block can come
// while another is in use.

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "ballast/engine/core/result.hpp"
#include "ballast/engine/device/device.hpp"
#include "ballast/engine/plan/block_table.hpp"

namespace ballast::weights {

/// Thread-safe. Blocks stay in their slots until another one needs the room.
class Ring {
public:
    /// `memory` on the compute device, cut into slots.
    explicit Ring(device::Memory memory);

    /// Brings a block into a slot that nobody uses, with `fill`, unless it is there already, and
    /// holds it there until `release`. Fails with `out_of_memory` when all slots are in use, since
    /// waiting for oneself would never end, and with what `fill` fails with.
    Result<std::size_t> acquire(plan::BlockId block,
                                const std::function<Result<void>(std::span<std::byte>)>& fill);
    void release(std::size_t slot) noexcept;

    [[nodiscard]] std::span<std::byte> bytes(std::size_t slot) const;

    static constexpr std::size_t kSlots = 2;

private:
    struct Slot {
        std::optional<plan::BlockId> block{};
        int users = 0;
        std::uint64_t used_at = 0;
    };

    device::Memory memory_;
    std::mutex mutex_;
    std::array<Slot, kSlots> slots_{};
    std::uint64_t turn_ = 0;
};

}  // namespace ballast::weights
