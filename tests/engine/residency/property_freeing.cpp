// Steps that ask for memory, and what must come of them.

#include <fmt/format.h>

#include <algorithm>

#include "tests/engine/residency/property_world.hpp"

namespace ballast::residency::property {
namespace {

std::optional<bool> tri_state(std::uint32_t number) {
    if (number == 0) return std::nullopt;
    return number == 1;
}

std::string text_of(const Scene& scene, std::size_t model, By by) {
    if (by == By::name) return Files::name(model);
    const auto path = scene.files.path(file_of(model));
    return by == By::path ? path.string() : path.filename().string();
}

Bytes at(const std::map<DeviceId, Bytes>& sums, DeviceId device) {
    const auto found = sums.find(device);
    return found == sums.end() ? Bytes{} : found->second;
}

}  // namespace

void World::begin_prompt() {
    if (std::exchange(reference_.is_running, true)) return;
    scene_.flow.begin_prompt();
}

void World::end_prompt() {
    if (!std::exchange(reference_.is_running, false)) return;
    end(true);
}

void World::settle() { end(false); }

void World::end(bool is_prompt) {
    const auto before = photograph(scene_.registry, scene_.ledger);
    const auto was_loaded = reference_.loaded;
    const auto requests = reference_.pending;
    const bool acts = !reference_.is_running && (requests.any() || reference_.has_leftovers());
    const auto dropped = drops_;
    const auto drop = [this] {
        ++drops_;
        results_.clear();
    };
    const auto answer = is_prompt ? scene_.flow.end_prompt(drop) : scene_.flow.settle(drop);
    require((drops_ != dropped) == (acts && requests.frees), "results were dropped, or were not");
    carried_out(answer, before, requests, was_loaded, acts);
    if (!acts) return;
    scene_.clear_emptying_faults();
    has_emptying_fault_ = false;
    free_again(requests);
}

void World::carried_out(const std::optional<FreeAnswer>& answer, const Photograph& before,
                        const Reference::Requests& requests,
                        const std::vector<Expected>& was_loaded, bool acts) {
    require(answer.has_value() == acts, "requests were carried out, or were not");
    Reference::Outcome outcome;
    if (acts) outcome = reference_.free();
    check_untouched(before, outcome.freed);
    if (!answer) return;
    require(answer->are_results_dropped == requests.frees, "the answer is wrong about results");
    require(answer->errors.size() == outcome.unknown_names, "names that nothing has are told");
    auto freed = outcome.freed;
    std::vector<ModelHandle> told;
    for (const auto& model : answer->models.freed) told.push_back(model.handle);
    std::ranges::sort(freed);
    std::ranges::sort(told);
    require(told == freed, "other models went than were to go");
    require(told.size() + answer->models.kept.size() == was_loaded.size(),
            "the answer does not tell of every model");
    for (const auto& kept : answer->models.kept) {
        const auto* expected = reference_.find(kept.handle);
        if (expected == nullptr) continue;
        require((kept.why == KeptBecause::in_use) == (expected->users > 0 && expected->goes_now()),
                kept.name + " is said to be in use, or is not");
    }
    check_report(*answer, before);
}

void World::check_report(const FreeAnswer& answer, const Photograph& before) {
    const auto after = scene_.ledger.snapshot();
    const auto by_models = answer.models.released();
    for (const auto id : kDevices) {
        const auto told = answer.devices.find(id);
        if (told == answer.devices.end()) {
            require(!before.ledger.contains(id), "a device is not told of");
            continue;
        }
        const auto was = before.ledger.at(id).now;
        require(told->second.released == was.minus_or_zero(after.at(id).now),
                "released bytes are not what the account says");
        Bytes tiers;
        for (const auto& [tier, bytes] : told->second.by_tier) tiers += bytes;
        require(tiers == at(by_models, id), "tiers do not add up to what models released");
        require(told->second.kept == at(scene_.registry.held(), id), "kept bytes are wrong");
        require(!told->second.error || has_emptying_fault_, "emptying failed without a fault");
    }
    for (const auto& freed : answer.models.freed) {
        const auto was = std::ranges::find(before.models, freed.handle, &ModelStatus::handle);
        require(was != before.models.end() && was->held == freed.released,
                freed.name + " released other bytes than it held");
    }
}

/// Those that stay are what and where they were, in their order.
void World::check_untouched(const Photograph& before, const std::vector<ModelHandle>& gone) {
    const auto after = photograph(scene_.registry, scene_.ledger);
    auto expected = before.models;
    std::erase_if(expected, [&](const ModelStatus& status) {
        return std::ranges::find(gone, status.handle) != gone.end();
    });
    require(after.models == expected, "freeing changed models that stay");
    for (const auto& [handle, store] : after.stores)
        require(before.stores.contains(handle) && before.stores.at(handle) == store,
                "freeing gave a model other weights");
    if (!gone.empty()) return;
    for (const auto tag : {device::Tag::weights, device::Tag::ring})
        for (const auto& [id, use] : after.ledger)
            require(use.tag(tag).now == before.ledger.at(id).tag(tag).now,
                    "nothing went, and other bytes are held");
}

/// The same once more changes nothing.
void World::free_again(const Reference::Requests& requests) {
    if (requests.unloads || requests.frees)
        scene_.flow.request({.unload_models = requests.unloads, .free_memory = requests.frees});
    if (requests.unloads_all) scene_.flow.request_unload_all();
    const auto before = photograph(scene_.registry, scene_.ledger);
    const auto answer = scene_.flow.settle([] {});
    require(!answer || answer->models.freed.empty(), "the second time something went");
    check_untouched(before, {});
}

void World::flag(std::uint32_t model, std::uint32_t by, std::uint32_t flag) {
    const RetentionFlag wanted{.value = (flag & 2U) != 0 ? Retention::keep : Retention::release,
                               .is_said = (flag & 1U) != 0};
    if (by == 3) {
        scene_.registry.set_retention(scene_.files.source(model).key, wanted);
        if (auto* each = reference_.find(model, scene_.files.version(file_of(model))))
            each->set(wanted);
        return;
    }
    const auto how = static_cast<By>(by);
    const auto set = scene_.registry.set_retention(text_of(scene_, model, how), wanted.value);
    require(set.has_value() == reference_.is_any(model, how), "a name was found, or was not");
    for (auto& each : reference_.loaded)
        if (each.is_named(model, how)) each.set({.value = wanted.value, .is_said = true});
}

void World::request(std::uint32_t unload_models, std::uint32_t free_memory) {
    const auto unloads = tri_state(unload_models);
    const auto frees = tri_state(free_memory);
    scene_.flow.request({.unload_models = unloads, .free_memory = frees});
    auto& pending = reference_.pending;
    pending.frees = pending.frees || frees == true;
    pending.unloads = pending.unloads || (unloads ? *unloads : frees == true);
}

void World::eject(std::uint32_t model, std::uint32_t by) {
    const auto how = static_cast<By>(by);
    const auto asked = scene_.flow.request_eject(text_of(scene_, model, how));
    require(asked.has_value() == reference_.is_any(model, how), "a name was found, or was not");
    const Reference::Ejected wish{by == 0 ? model : file_of(model), how};
    auto& ejected = reference_.pending.ejected;
    // asking twice in the same words is asking once
    if (asked && std::ranges::find(ejected, wish) == ejected.end()) ejected.push_back(wish);
}

void World::unload_all() {
    scene_.flow.request_unload_all();
    reference_.pending.unloads_all = true;
}

void World::clean_up(std::uint32_t by, std::uint32_t force) {
    const bool is_forced = force != 0;
    const bool is_asked = is_forced || !reference_.is_running;
    if (by == 0) {
        scene_.flow.force_full_system_cleanup("test", is_forced);
    } else {
        const bool is_reset = scene_.flow.reset_executor("test", is_forced);
        require(is_reset == is_asked, "results were to be dropped, or were not");
    }
    if (is_asked) reference_.pending.frees = reference_.pending.unloads = true;
}

void World::empty_caches(std::uint32_t force) {
    const auto before = photograph(scene_.registry, scene_.ledger);
    scene_.flow.soft_empty_cache(force != 0);
    check_untouched(before, {});
    if (force != 0) reference_.pending.frees = reference_.pending.unloads = true;
}

}  // namespace ballast::residency::property
