// Steps that load, and what must come of them.

#include <fmt/format.h>

#include <algorithm>

#include "tests/engine/residency/property_world.hpp"

namespace ballast::residency::property {
namespace {

/// Good enough for nobody to be asked to go.
bool needs_no_room(const plan::Plan& plan) {
    return plan.fits &&
           (plan.mode != plan::Mode::automatic || (plan.moved.is_zero() && plan.compute != kCpu));
}

}  // namespace

bool World::is_outdated(const Expected& each, std::size_t model) const {
    const auto file = file_of(model);
    return file_of(each.model) == file && each.version != scene_.files.version(file);
}

bool World::may_go(const Expected& each) const {
    return each.users == 0 && !(scene_.variant.is_strict && each.is_kept());
}

bool World::fits_beside(const PlanMaker& make, const std::vector<ModelHandle>& those) {
    auto left = scene_.room({});
    for (const auto& status : scene_.registry.models())
        if (std::ranges::find(those, status.handle) != those.end()) take(left, status.held);
    return make(left).fits;
}

/// A load is refused only where it helps nobody that all go who can.
std::optional<std::size_t> World::plan_that_fits(const LoadStep& step, const Expected* entry) {
    std::vector<ModelHandle> stay;
    const auto model = static_cast<std::size_t>(step.source.key.options[1] - '0');
    for (const auto& each : reference_.loaded) {
        const bool is_ejected = step.ejects_others && entry == nullptr && each.users == 0 &&
                                !(each.is_kept() && each.flag.is_said);
        const bool is_old = entry == nullptr && each.users == 0 && is_outdated(each, model);
        if (&each != entry && !is_ejected && !is_old && !may_go(each)) stay.push_back(each.handle);
    }
    for (std::size_t i = 0; i < step.plans.size(); ++i)
        if (fits_beside(step.plans[i], stay)) return i;
    return std::nullopt;
}

void World::load(std::uint32_t model, std::uint32_t plan, std::uint32_t how) {
    const LoadStep step{.source = scene_.files.source(model),
                        .plans = plan_makers(scene_.files.table(model), plan % kPlanKinds,
                                             Bytes{plan / kPlanKinds * 20U * 1024U}),
                        .flag = {.value = (how & 2U) != 0 ? Retention::keep : Retention::release,
                                 .is_said = (how & 1U) != 0},
                        .ejects_others = (how & 4U) != 0};
    const auto file = file_of(model);
    auto* entry = reference_.find(model, scene_.files.version(file));
    const auto before = photograph(scene_.registry, scene_.ledger);
    const auto was_loaded = reference_.loaded;
    const bool is_missing =
        !scene_.files.is_there(file) && (entry == nullptr || !entry->is_complete);
    // an automatic plan that takes a pool for two devices' memory may miss one that fits, so that
    // less room may help
    const bool is_unsure = scene_.variant.is_one_pool &&
                           step.plans.front()(scene_.room({})).mode == plan::Mode::automatic;
    const bool fits = !is_missing && plan_that_fits(step, entry).has_value();
    auto loading = scene_.registry.load({.source = &step.source,
                                         .retention = step.flag,
                                         .plans = step.plans,
                                         .ejects_others = step.ejects_others});
    if (loading) {
        require(!is_missing, "loaded what has no file");
        require(fits || is_unsure, "loaded what does not fit");
        check_eviction(step, *loading, before, was_loaded);
        loaded(step, model, *loading);
    } else {
        require(!is_missing || loading.error().code == Code::not_found,
                "a missing file is told as " + to_string(loading.error()));
        not_loaded(model, loading.error(), before, fits, is_unsure);
    }
    clear_faults();
}

void World::check_eviction(const LoadStep& step, const Loading& loading, const Photograph& before,
                           const std::vector<Expected>& was_loaded) {
    auto everything = scene_.room({});
    for (const auto& status : before.models)
        if (status.handle != loading.handle) take(everything, status.held);
    const bool was_there =
        std::ranges::find(was_loaded, loading.handle, &Expected::handle) != was_loaded.end();
    const bool needs_nobody = needs_no_room(step.plans.front()(everything));
    const auto model = static_cast<std::size_t>(step.source.key.options[1] - '0');
    for (const auto& freed : loading.evicted) {
        const auto who = std::ranges::find(was_loaded, freed.handle, &Expected::handle);
        if (who == was_loaded.end()) return require(false, "evicted what was not loaded");
        require(who->users == 0, freed.name + " was in use and made room");
        const bool is_old = !was_there && is_outdated(*who, model);
        const bool is_ejected =
            step.ejects_others && !was_there && !(who->is_kept() && who->flag.is_said);
        if (is_old || is_ejected) continue;
        require(!needs_nobody, freed.name + " made room without need");
        require(may_go(*who), freed.name + " was kept strictly and made room");
    }
}

void World::loaded(const LoadStep& step, std::size_t model, const Loading& loading) {
    for (const auto& freed : loading.evicted) {
        auto* who = reference_.find(freed.handle);
        if (who == nullptr) continue;
        const auto status = scene_.registry.models();
        if (std::ranges::find(status, freed.handle, &ModelStatus::handle) == status.end())
            reference_.remove(freed.handle);
        else
            who->is_complete = false;
    }
    const auto version = scene_.files.version(file_of(model));
    auto* entry = reference_.find(model, version);
    const auto* store = scene_.registry.weights(loading.handle).get();
    if (entry != nullptr) {
        require(entry->handle == loading.handle, "a loaded model got another handle");
        require(loading.is_read || store == entry->store, "what was read is told wrongly");
        require(!loading.is_read || entry->users == 0, "a model was moved while it was in use");
        require(!loading.is_as_good || entry->is_complete, "half a model was as good");
        if (loading.is_read) {
            const auto moved = *entry;
            std::erase_if(reference_.loaded,
                          [&](const Expected& each) { return each.handle == moved.handle; });
            reference_.loaded.push_back(moved);
            entry = &reference_.loaded.back();
        }
    } else {
        require(loading.is_read, "a model came from nowhere");
        require(std::ranges::find(reference_.gone, loading.handle) == reference_.gone.end(),
                "a handle was given out twice");
        entry = &reference_.loaded.emplace_back();
        entry->handle = loading.handle;
        entry->model = model;
        entry->version = version;
    }
    entry->set(step.flag);
    entry->store = store;
    entry->is_complete = true;
    if (store != nullptr && loading.is_read)
        require(store->plan() == loading.plan, "realised another plan than the one it tells");
}

void World::not_loaded(std::size_t model, const Error& error, const Photograph& before, bool fits,
                       bool is_unsure) {
    auto* entry = reference_.find(model, scene_.files.version(file_of(model)));
    const bool is_refused = error.code == Code::does_not_fit || error.code == Code::not_found;
    const bool is_blocked = error.code == Code::internal && entry != nullptr && entry->users > 0;
    require(is_blocked || has_fault_ || is_refused, "failed with " + to_string(error));
    if (is_refused || is_blocked) {
        // one that is there can still be shared without its file, but not moved
        const bool has_no_file =
            error.code == Code::not_found && !scene_.files.is_there(file_of(model));
        require(is_blocked || has_no_file || !fits || is_unsure,
                "refused what fits: " + to_string(error));
        const auto after = photograph(scene_.registry, scene_.ledger);
        require(after.models == before.models && after.stores == before.stores,
                "a refused load changed what is loaded");
        return;
    }
    resynchronise(model);
}

/// A load that failed on the way has evicted whom it would have evicted, and nobody else.
void World::resynchronise(std::size_t model) {
    const auto listed = scene_.registry.models();
    std::vector<ModelHandle> gone;
    for (auto& each : reference_.loaded) {
        const auto now = std::ranges::find(listed, each.handle, &ModelStatus::handle);
        const bool is_it = each.model == model && !is_outdated(each, model);
        require(!is_it || now == listed.end(), "half a model is listed");
        if (now != listed.end()) {
            require(now->is_complete || each.users == 0, "a part of a model in use made room");
            each.is_complete = now->is_complete;
        } else {
            require(each.users == 0, "a failed load took a model that is in use");
            gone.push_back(each.handle);
        }
    }
    for (const auto handle : gone) reference_.remove(handle);
}

}  // namespace ballast::residency::property
