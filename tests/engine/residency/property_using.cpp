// Steps that use models, and those of the world around them.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/engine/residency/property_world.hpp"

namespace ballast::residency::property {

bool World::has_bytes(const weights::Pin& pin, std::size_t tensor, const Expected& expected) const {
    const auto bytes = pin.bytes(tensor);
    const auto& stored = pin.block().tensors[tensor];
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != content(file_of(expected.model), expected.version, stored.offset + i))
            return false;
    return bytes.size() == stored.bytes.count();
}

/// Every block that is there, those that travel only if `streams`.
void World::check_bytes(const Expected& expected, const weights::WeightStore& store, bool streams) {
    const auto& plan = store.plan();
    for (std::uint32_t b = 0; b < plan.homes.size(); ++b) {
        const bool travels =
            plan.homes[b] != plan.compute && !plan.read_in_place.contains(plan.homes[b]);
        if (travels && !streams) continue;
        auto pin = store.pin({b});
        if (!pin && has_fault_) {
            // what comes after a failed copy begins anew
            clear_faults();
            pin = store.pin({b});
        }
        if (!pin) return require(false, "cannot pin: " + to_string(pin.error()));
        for (std::size_t t = 0; t < pin->block().tensors.size(); ++t)
            require(has_bytes(*pin, t, expected),
                    fmt::format("block {} of {} has other bytes than its file", b,
                                Files::name(expected.model)));
    }
}

std::optional<ModelUse> World::use(Expected& expected) {
    const auto file = file_of(expected.model);
    const auto store = scene_.registry.weights(expected.handle);
    if (!store) {
        require(false, "a loaded model has no weights");
        return std::nullopt;
    }
    const bool is_written = store->realised().contains(kDisk) && scene_.files.is_there(file) &&
                            is_outdated(expected, expected.model);
    auto use = scene_.registry.use(expected.handle);
    if (!store->is_complete()) {
        require(!use && use.error().code == Code::not_found, "a model is used in part");
        return std::nullopt;
    }
    if (is_written) {
        require(!use && use.error().code == Code::corrupt_file,
                "blocks are read from a file that was replaced");
        return std::nullopt;
    }
    if (!use) {
        require(false, "cannot use: " + to_string(use.error()));
        return std::nullopt;
    }
    require(use->weights().get() == expected.store, "the weights are others than were loaded");
    ++expected.uses;
    return *std::move(use);
}

void World::run(std::uint32_t model, std::uint32_t version) {
    const auto newest = scene_.files.version(file_of(model));
    auto* expected = reference_.find(model, newest - std::min(newest, version));
    if (expected == nullptr) return;
    const auto reads = scene_.files.reads();
    if (const auto use = this->use(*expected)) {
        const auto& store = *use->weights();
        if (expected->is_complete) {
            check_bytes(*expected, store, true);
            require(store.realised().contains(kDisk) || scene_.files.reads() == reads,
                    "a model that lies in memory was read from its file");
        } else {
            const auto pin = store.pin({0});
            require(!pin && pin.error().code == Code::internal, "half a model can be used");
        }
    }
    clear_faults();
}

void World::clear_faults() {
    scene_.clear_faults();
    has_fault_ = has_refusal_ = false;
}

void World::hold(std::uint32_t model) {
    auto* expected = reference_.find(model, scene_.files.version(file_of(model)));
    if (expected == nullptr || !expected->is_complete) return;
    auto use = this->use(*expected);
    if (!use) return;
    ++expected->users;
    auto& held = held_.emplace_back();
    held.handle = expected->handle;
    const auto& store = *use->weights();
    const auto& plan = store.plan();
    for (std::uint32_t b = 0; b < plan.homes.size(); ++b) {
        if (plan.homes[b] != plan.compute) continue;
        auto pin = store.pin({b});
        if (!pin) return require(false, "cannot pin: " + to_string(pin.error()));
        held.places.push_back(pin->bytes(0).data());
        held.pins.push_back(*std::move(pin));
    }
    held.uses.push_back(*std::move(use));
}

void World::let_go(std::uint32_t which) {
    if (held_.empty()) return;
    const auto held = held_.begin() + static_cast<std::ptrdiff_t>(which % held_.size());
    if (auto* expected = reference_.find(held->handle)) --expected->users;
    held->pins.clear();
    held->uses.clear();
    held_.erase(held);
}

void World::press(std::uint32_t device, std::uint32_t kib) {
    const auto id = kDevices[device % kDevices.size()];
    auto left = scene_.room({});
    take(left, scene_.registry.held());
    const auto bytes = std::min(room_on(left, id), Bytes{std::uint64_t{kib} << 10U});
    auto taken = scene_.ledger.reserve(id, bytes, device::Tag::activations);
    require(taken.has_value(), "the account refuses what is free");
    if (taken) others_.push_back(*std::move(taken));
}

void World::ease() { others_.clear(); }

void World::keep_results(std::uint32_t kib) {
    auto left = scene_.room({});
    take(left, scene_.registry.held());
    const auto bytes = std::min(room_on(left, kCpu), Bytes{std::uint64_t{kib} << 10U});
    auto taken = scene_.ledger.reserve(kCpu, bytes, device::Tag::results);
    if (taken) results_.push_back(*std::move(taken));
}

void World::fault(std::uint32_t device, std::uint32_t which) {
    const auto id = kDevices[1 + device % 2];
    if (which == 0)
        scene_.fail_emptying(id);
    else if (which < 3)
        scene_.refuse_allocation(id, which == 2);
    else
        scene_.fail_copy(id, which - 3);
    if (which == 0)
        has_emptying_fault_ = true;
    else if (which > 1 || std::exchange(has_refusal_, true))
        has_fault_ = true;
}

void World::expect(std::uint32_t first, std::uint32_t second) {
    std::vector<ExpectedUse> uses;
    for (const auto model : {first, second})
        uses.push_back(
            {.file = scene_.files.path(file_of(model)), .options = fmt::format("m{}", model)});
    scene_.registry.expect(std::move(uses));
}

void World::replace(std::uint32_t file) { scene_.files.replace(file); }

void World::remove(std::uint32_t file) {
    if (scene_.files.is_there(file)) scene_.files.remove(file);
}

void World::pass(std::uint32_t seconds) { scene_.clock.advance(std::chrono::seconds{seconds}); }

}  // namespace ballast::residency::property
