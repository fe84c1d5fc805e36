#pragma once
// A small model on a machine with two simulated cards.

#include <gtest/gtest.h>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "tests/support/pattern_file.hpp"

namespace ballast::weights::testing {

inline constexpr DeviceId kCard{DeviceKind::cuda, 0};
inline constexpr DeviceId kOther{DeviceKind::cuda, 1};

inline machine::MachineProfile two_cards() {
    machine::MachineProfile profile;
    for (const auto id : {kCard, kOther})
        profile.devices.push_back({.id = id, .total = Bytes{64U << 20U}});
    return profile;
}

/// A model of four blocks, a file for it, and two simulated cards to load it on.
struct TwoCards {
    TwoCards() {
        std::vector<plan::BlockTensor> tensors;
        std::uint64_t offset = 0;
        for (const auto* name : {"a", "b", "c", "d"})
            for (const auto& [part, size] : {std::pair{".weight", 700'001U}, {".bias", 35U}}) {
                tensors.push_back(bytes_at(std::string(name) + part, offset, size));
                offset += size;
            }
        table = plan::group_into_blocks(tensors);
    }

    plan::Plan plan(DeviceId compute, std::vector<DeviceId> homes) const {
        plan::Plan made;
        made.compute = compute;
        for (std::size_t i = 0; i < homes.size(); ++i)
            made.per_device[homes[i]] += table.blocks()[i].bytes;
        made.homes = std::move(homes);
        made.ring = Bytes{2 * 700'096};
        return made;
    }
    /// Every block is a segment.
    Result<std::shared_ptr<WeightStore>> load(plan::Plan made,
                                              std::shared_ptr<WeightStore> former = nullptr) {
        return WeightStore::load({.former = std::move(former),
                                  .reader = reader,
                                  .table = table,
                                  .plan = std::move(made),
                                  .ledger = &ledger,
                                  .transfers = &transfers,
                                  .least_segment = Bytes{1}});
    }
    Bytes held(DeviceId device) { return ledger.snapshot()[device].now; }
    void expect_nothing_held() {
        for (const auto& [device, use] : ledger.snapshot()) {
            EXPECT_EQ(use.now, Bytes{}) << to_string(device);
            EXPECT_EQ(use.tag(device::Tag::simulation).now, Bytes{});
        }
        for (const auto& device : machine.devices().all())
            EXPECT_EQ(device->memory().held, Bytes{}) << to_string(device->id());
    }

    std::shared_ptr<PatternReader> reader = std::make_shared<PatternReader>();
    plan::BlockTable table;
    device::Ledger ledger;
    device::sim::SimMachine machine{two_cards(), std::make_shared<device::sim::VirtualTime>(),
                                    &ledger};
    device::Transfers transfers{machine.devices(), ledger};
};

}  // namespace ballast::weights::testing
