#include "ballast/engine/residency/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ballast::residency {
namespace {

using Sums = std::map<DeviceId, Bytes>;

Bytes at(const Sums& sums, DeviceId device) {
    const auto found = sums.find(device);
    return found == sums.end() ? Bytes{} : found->second;
}

/// Weights and rings on each device; blocks that stay in their file are nobody's memory.
Sums models_in(const device::LedgerSnapshot& ledger) {
    Sums sums;
    for (const auto& [device, use] : ledger) {
        if (device.kind == DeviceKind::disk) continue;
        const auto held = use.tag(device::Tag::weights).now + use.tag(device::Tag::ring).now;
        if (!held.is_zero()) sums[device] = held;
    }
    return sums;
}

bool was_freed(const FreeReport& report, ModelHandle handle) {
    return std::ranges::find(report.freed, handle, &FreedModel::handle) != report.freed.end();
}

/// What may change, by calls from other threads, without a model having been touched.
ModelStatus without_usage(ModelStatus status) {
    status.is_in_use = false;
    status.uses = status.last_use = 0;
    status.retention = {};
    return status;
}

}  // namespace

Photograph photograph(const Registry& registry, const device::Ledger& ledger) {
    Photograph picture{.models = registry.models(), .ledger = ledger.snapshot()};
    for (const auto& model : picture.models)
        picture.stores[model.handle] = registry.weights(model.handle).get();
    return picture;
}

std::vector<std::string> broken_by_freeing(const Photograph& before, const Registry& registry,
                                           const device::Ledger& ledger, const FreeReport& report) {
    std::vector<std::string> broken;
    const auto say = [&broken](std::string_view invariant, const std::string& what) {
        broken.push_back(fmt::format("{}: {}", invariant, what));
    };
    const auto after = photograph(registry, ledger);

    std::vector<ModelHandle> expected;
    for (const auto& model : before.models)
        if (!was_freed(report, model.handle)) expected.push_back(model.handle);
    std::vector<ModelHandle> listed;
    for (const auto& model : after.models) listed.push_back(model.handle);
    if (listed != expected) say("I1", "the models that stay are others, or in another order");

    for (const auto& model : before.models) {
        if (was_freed(report, model.handle)) {
            if (std::ranges::find(listed, model.handle) != listed.end())
                say("I6", model.name + " was freed and is still listed");
            if (registry.weights(model.handle) != nullptr)
                say("I8", model.name + " was freed and its handle still leads to weights");
            continue;
        }
        const auto now = std::ranges::find(after.models, model.handle, &ModelStatus::handle);
        if (now == after.models.end()) continue;  // told above
        if (now->homes != model.homes || now->held != model.held ||
            now->plan_digest != model.plan_digest)
            say("I2", "blocks of " + model.name + " are not where they were");
        if (without_usage(*now) != without_usage(model)) say("I3", model.name + " was changed");
        if (after.stores.at(model.handle) != before.stores.at(model.handle))
            say("I4", model.name + " was loaded anew");
    }

    const auto held_before = models_in(before.ledger);
    const auto held_now = models_in(after.ledger);
    const auto released = report.released();
    // also where nothing was held: nothing can have come back there, or come there
    auto devices = held_before;
    devices.insert(held_now.begin(), held_now.end());
    devices.insert(released.begin(), released.end());
    for (const auto& [device, ignored] : devices) {
        const auto had = at(held_before, device);
        const auto came_back = at(released, device);
        const auto has = at(held_now, device);
        if (has + came_back != had)
            say("I7", fmt::format("{} held {}, {} were released, and it holds {}",
                                  to_string(device), had.count(), came_back.count(), has.count()));
    }
    auto held = registry.held();
    std::erase_if(held, [](const auto& entry) { return entry.second.is_zero(); });
    if (held != held_now) say("I11", "the account and the models disagree about what is held");
    return broken;
}

std::vector<std::string> broken_by_emptying(const device::DeviceSet& devices,
                                            const std::vector<CacheReport>& reports) {
    std::vector<std::string> broken;
    for (const auto& device : devices.all()) {
        const auto name = to_string(device->id());
        const auto told = std::ranges::find(reports, device->id(), &CacheReport::device);
        if (told == reports.end()) {
            broken.push_back("I12: nobody asked " + name + " to empty its cache");
            continue;
        }
        const bool should_be_empty =
            told->action == machine::CacheAction::release && !told->is_asleep && !told->error;
        if (should_be_empty && !told->kept.is_zero())
            broken.push_back(
                fmt::format("I12: {} still keeps {} for reuse", name, to_string(told->kept)));
    }
    return broken;
}

}  // namespace ballast::residency
