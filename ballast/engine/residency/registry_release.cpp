// How models go when somebody asks for it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "ballast/engine/residency/registry_entry.hpp"

namespace ballast::residency {

bool Registry::is_used(const Entry& entry) const {
    const std::scoped_lock state(state_);
    return entry.users > 0;
}

bool Registry::is_retained(const Entry& entry) const {
    const std::scoped_lock state(state_);
    return standing_of(entry.retention) == Standing::retained;
}

/// What goes is only dropped: its source is its file. Nothing is copied, nothing allocated.
FreedModel Registry::take_out(Entry& entry) {
    FreedModel freed{.handle = ModelHandle(entry.id),
                     .name = entry.source.name,
                     .compute = entry.store->plan().compute,
                     .released = entry.store->held()};
    entry.store->let_go();
    std::erase_if(entries_, [&entry](const auto& each) { return each.get() == &entry; });
    return freed;
}

FreeReport Registry::release(const std::function<bool(const Entry&)>& goes, KeptBecause otherwise,
                             GoesAfterUse if_used) {
    FreeReport report;
    const auto entries = entries_;
    for (const auto& entry : entries) {
        KeptModel kept{
            .handle = ModelHandle(entry->id), .name = entry->source.name, .why = otherwise};
        std::optional<FreedModel> freed;
        try {
            // nobody begins to use it, or says that it is kept, between the question and the answer
            const std::scoped_lock state(state_);
            kept.held = entry->store->held();
            if (goes(*entry)) {
                if (entry->users == 0) {
                    freed = take_out(*entry);
                } else {
                    entry->goes_after_use = std::max(entry->goes_after_use, if_used);
                    kept.why = KeptBecause::in_use;
                }
            }
        } catch (const std::exception& e) {
            kept.why = KeptBecause::failed;
            kept.error = Error{.code = Code::internal,
                               .what = "cannot let " + entry->source.name + " go",
                               .why = e.what(),
                               .hint = "report this as a fault of Ballast"};
            log_.error(to_string(*kept.error));
        }
        if (freed) {
            log_.info(fmt::format("released {}", entry->source.name));
            report.freed.push_back(*std::move(freed));
        } else {
            report.kept.push_back(std::move(kept));
        }
    }
    return report;
}

FreeReport Registry::release_flagged() {
    const std::scoped_lock work(work_);
    return release([](const Entry& entry) { return entry.may_go(); }, KeptBecause::retained,
                   GoesAfterUse::unless_kept);
}

FreeReport Registry::release_all() {
    const std::scoped_lock work(work_);
    return release([](const Entry&) { return true; }, KeptBecause::not_asked,
                   GoesAfterUse::certainly);
}

Result<FreeReport> Registry::eject(std::string_view name) {
    const std::scoped_lock work(work_);
    Entries chosen;
    {
        const std::scoped_lock state(state_);
        chosen = named(name);
        if (chosen.empty()) return fail(unknown(name));
    }
    return release(
        [&](const Entry& entry) {
            return std::ranges::any_of(chosen,
                                       [&](const auto& each) { return each.get() == &entry; });
        },
        KeptBecause::not_asked, GoesAfterUse::certainly);
}

FreeReport Registry::settle() {
    const std::scoped_lock work(work_);
    return release([](const Entry& entry) { return entry.goes_after_use != GoesAfterUse::no; },
                   KeptBecause::not_asked, GoesAfterUse::no);
}

bool Registry::has_unsettled() const {
    const std::scoped_lock state(state_);
    return std::ranges::any_of(entries_, [](const auto& entry) {
        return entry->users == 0 && entry->goes_after_use != GoesAfterUse::no;
    });
}

Result<void> Registry::require_loaded(std::string_view name) const {
    const std::scoped_lock state(state_);
    if (named(name).empty()) return fail(unknown(name));
    return {};
}

Result<void> Registry::set_retention(std::string_view name, Retention retention) {
    const std::scoped_lock state(state_);
    const auto chosen = named(name);
    if (chosen.empty()) return fail(unknown(name));
    for (const auto& entry : chosen) entry->flag({.value = retention, .is_said = true});
    return {};
}

void Registry::set_retention(const ModelKey& key, RetentionFlag flag) {
    const auto entry = find(key);
    const std::scoped_lock state(state_);
    if (entry) entry->flag(flag);
}

Registry::Entries Registry::named(std::string_view name) const {
    Entries found;
    for (const auto& entry : entries_)
        if (is_named(name, entry->source.name, entry->source.key.file)) found.push_back(entry);
    return found;
}

Error Registry::unknown(std::string_view name) const {
    Error error{.code = Code::not_found,
                .what = "cannot find the model",
                .why = fmt::format("no model named '{}' is loaded", escaped(name))};
    std::vector<std::string> names;
    for (const auto& entry : entries_) names.push_back(entry->source.name);
    if (names.empty())
        error.hint = "nothing is loaded";
    else
        error.hint = fmt::format("loaded are: {}", fmt::join(names, ", "));
    return error;
}

ModelStatus Registry::status_of(const Entry& entry) const {
    const auto& store = *entry.store;
    return {.handle = ModelHandle(entry.id),
            .name = entry.source.name,
            .file = entry.source.key.file.string(),
            .compute = store.plan().compute,
            .bytes = store.table().bytes(),
            .held = store.held(),
            .homes = store.realised(),
            .is_complete = store.is_complete(),
            .is_in_use = entry.users > 0,
            .retention = entry.retention,
            .uses = entry.uses,
            .last_use = entry.last_use,
            .plan_digest = plan::digest(store.table(), store.plan())};
}

}  // namespace ballast::residency
