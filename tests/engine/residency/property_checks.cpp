// What holds after every step.

#include <fmt/format.h>

#include <algorithm>

#include "tests/engine/residency/property_world.hpp"

namespace ballast::residency::property {

void World::check() {
    check_limits();
    check_account();
    check_list();
    check_held_uses();
    check_gone();
}

void World::check_limits() {
    for (const auto& [id, use] : scene_.ledger.snapshot())
        require(!use.limit || use.peak <= *use.limit,
                fmt::format("{} held more than its limit", to_string(id)));
    // on the host the limit has more room than models may take, and a pool has no limit of its own
    auto left = scene_.room({});
    const auto held = scene_.registry.held();
    std::map<DeviceId, Bytes> by_pool;
    for (const auto& [id, bytes] : held) by_pool[left.find(id)->pool.value_or(id)] += bytes;
    for (const auto& [id, bytes] : by_pool)
        require(bytes <= left.find(id)->capacity,
                fmt::format("models hold more than {} has", to_string(id)));
}

/// Models, account and devices agree to the byte.
void World::check_account() {
    const auto held = scene_.registry.held();
    const auto statuses = scene_.registry.models();
    for (const auto id : kDevices) {
        const auto of_models = held.contains(id) ? held.at(id) : Bytes{};
        require(
            of_models == scene_.held(id, device::Tag::weights) + scene_.held(id, device::Tag::ring),
            fmt::format("models and account disagree about {}", to_string(id)));
        const auto& device = *scene_.machine.devices().find(id);
        const auto grain = device.granularity().count();
        std::uint64_t wanted = id == kCpu ? scene_.held(kCpu, device::Tag::staging).count() : 0;
        for (const auto& status : statuses)
            if (const auto store = scene_.registry.weights(status.handle))
                for (const auto piece : store->tail(id))
                    wanted += (piece.count() + grain - 1) / grain * grain;
        require(device.memory().held == Bytes{wanted},
                fmt::format("{} gave out {}, and models account for {}", to_string(id),
                            device.memory().held.count(), wanted));
    }
}

/// The registry lists what the reference expects, in its order, with the bytes of their files.
void World::check_list() {
    const auto listed = scene_.registry.models();
    require(listed.size() == reference_.loaded.size(),
            fmt::format("{} models are listed, and {} expected", listed.size(),
                        reference_.loaded.size()));
    for (std::size_t i = 0; i < std::min(listed.size(), reference_.loaded.size()); ++i) {
        const auto& status = listed[i];
        const auto& expected = reference_.loaded[i];
        require(status.handle == expected.handle, "models are listed in another order");
        require(status.name == Files::name(expected.model), "a model has another name");
        require(status.retention == expected.flag, status.name + " has another flag");
        require(status.is_in_use == (expected.users > 0), status.name + " is in use, or is not");
        require(status.is_complete == expected.is_complete, status.name + " is complete, or not");
        require(status.uses == expected.uses, status.name + " was used more or less often");
        require(scene_.registry.is_loaded(status.handle) == expected.is_complete,
                status.name + " is said to be loaded, or not");
        const auto store = scene_.registry.weights(status.handle);
        require(store.get() == expected.store, status.name + " has other weights");
        if (store && expected.is_complete) check_bytes(expected, *store, false);
    }
}

void World::check_held_uses() {
    for (const auto& held : held_) {
        require(scene_.registry.is_loaded(held.handle), "a model went while it was in use");
        for (std::size_t i = 0; i < held.pins.size(); ++i)
            require(held.pins[i].bytes(0).data() == held.places[i], "a pinned block moved");
    }
}

void World::check_gone() {
    const auto& gone = reference_.gone;
    for (auto i = gone.size() - std::min<std::size_t>(gone.size(), 3); i < gone.size(); ++i) {
        require(!scene_.registry.is_loaded(gone[i]), "a model that went is still loaded");
        require(scene_.registry.weights(gone[i]) == nullptr, "a stale handle leads to weights");
        const auto use = scene_.registry.use(gone[i]);
        require(!use && use.error().code == Code::not_found, "a stale handle can be used");
    }
}

}  // namespace ballast::residency::property
