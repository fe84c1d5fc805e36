#pragma once
// Weights of one part of a model, spread over several devices.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/device/transfers.hpp"
#include "ballast/engine/formats/io/reader.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "ballast/runtime/tensor/weight_source.hpp"

namespace ballast::testing {

/// Blocks go to `homes` in turn, arithmetic to the first of them.
inline plan::Plan plan_in_turn(const plan::BlockTable& table, const std::vector<DeviceId>& homes) {
    plan::Plan plan;
    plan.compute = homes.front();
    const auto& blocks = table.blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        plan.homes.push_back(homes[i % homes.size()]);
        plan.per_device[plan.homes.back()] += blocks[i].bytes;
    }
    const auto layout = weights::lay_out(table, plan.homes);
    std::size_t largest = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (plan.homes[i] != plan.compute) largest = std::max(largest, layout.blocks[i].size);
    plan.ring = Bytes{largest}.times(weights::Ring::kSlots);
    return plan;
}

/// The machine that a part is spread over: accelerators, of which the first one computes, and the
/// host.
struct Machine {
    explicit Machine(std::vector<std::shared_ptr<device::Device>> accelerators)
        : compute(accelerators.front()), devices([&] {
              accelerators.push_back(device::make_host_device());
              return accelerators;
          }()) {}

    /// The compute device first, the disk last.
    [[nodiscard]] std::vector<DeviceId> homes() const {
        std::vector<DeviceId> ids{compute->id()};
        for (const auto& device : devices.all())
            if (device != compute) ids.push_back(device->id());
        ids.push_back({DeviceKind::disk, 0});
        return ids;
    }

    std::shared_ptr<device::Device> compute;
    device::DeviceSet devices;
    device::Ledger ledger;
    device::Transfers transfers{devices, ledger};
    runtime::WideningBuffer widening{ledger, compute};
};

/// The part `table` of `file`, its blocks in turn on every device of `machine` and on disk.
inline Result<std::shared_ptr<const weights::WeightStore>> load_distributed(
    const std::string& file, const plan::BlockTable& table, Machine& machine) {
    auto reader = formats::open_reader(file, formats::ReaderKind::positioned);
    if (!reader) return fail(std::move(reader).error());
    return weights::WeightStore::load({.reader = *std::move(reader),
                                       .table = table,
                                       .plan = plan_in_turn(table, machine.homes()),
                                       .ledger = &machine.ledger,
                                       .transfers = &machine.transfers});
}

struct DistributedPart {
    DistributedPart(const std::string& file, const plan::BlockTable& table, Machine& machine,
                    at::ScalarType type = at::kFloat)
        : store(runtime::value_or_throw(load_distributed(file, table, machine))),
          source(store, type, machine.widening) {}

    std::shared_ptr<const weights::WeightStore> store;
    runtime::WeightSource source;
};

}  // namespace ballast::testing
