#include "ballast/engine/residency/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ballast/engine/residency/registry_entry.hpp"

namespace ballast::residency {
namespace {

bool is_same_placement(const plan::Plan& a, const plan::Plan& b) {
    return a.compute == b.compute && a.homes == b.homes && a.ring == b.ring;
}

Error in_use(const ModelSource& source) {
    return {.code = Code::internal,
            .what = "cannot load " + source.name,
            .why = "somebody computes with it as it lies now",
            .hint = "report this as a fault of Ballast"};
}

bool is_short_of_memory(const Error& error) {
    return error.code == Code::does_not_fit || error.code == Code::out_of_memory;
}

}  // namespace

ModelUse::ModelUse(ModelUse&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)),
      id_(other.id_),
      weights_(std::move(other.weights_)) {}

ModelUse::~ModelUse() {
    weights_.reset();
    if (registry_ != nullptr) registry_->end_use(id_);
}

Registry::Registry(device::Ledger& ledger, device::Transfers& transfers, Surroundings& surroundings,
                   Log log, Options options)
    : ledger_(&ledger),
      transfers_(&transfers),
      surroundings_(&surroundings),
      log_(std::move(log)),
      options_(options) {}

Registry::~Registry() = default;

Result<Loading> Registry::load(const LoadRequest& request) {
    const std::scoped_lock work(work_);
    const auto& key = request.source->key;
    auto entry = find(key);
    if (!entry || !entry->store->is_complete())
        if (auto same = require_unchanged(key); !same) return fail(std::move(same).error());
    const auto outdated = entry ? Entries{} : older_versions(key);
    const auto ejected =
        request.ejects_others && !entry ? who_can_be_ejected(key, outdated) : Entries{};
    auto leaving = outdated;
    leaving.insert(leaving.end(), ejected.begin(), ejected.end());
    const auto others = all_but(entry, leaving);
    const auto phase = plan(request, others);
    if (!phase.plan.fits) return fail(refusal(request, phase));

    Loading loading{.plan = phase.plan};
    if (entry && does_as_well(*entry, phase.plan)) {
        // what is loaded stays where it does as well, for example after larger pictures
        loading.is_as_good = true;
    } else {
        if (entry && is_used(*entry)) return fail(in_use(*request.source));
        const bool stays = entry && entry->store->is_complete() &&
                           is_same_placement(entry->store->plan(), phase.plan);
        // what is read must belong to what is there; if it cannot be read, nobody goes for it
        if (!stays)
            if (auto same = require_unchanged(key); !same) return fail(std::move(same).error());
        loading.evicted = drop_outdated(outdated);
        tell_request(phase.plan, entry);
        std::ranges::move(make_room(phase, others, ejected, request.source->name),
                          std::back_inserter(loading.evicted));
        if (!loading.evicted.empty()) surroundings_->models_went();
        if (!stays) {
            auto read = realise(request, phase.plan, entry);
            if (!read) return fail(std::move(read).error());
            entry = *std::move(read);
            loading.is_read = true;
        }
    }
    const std::scoped_lock state(state_);
    if (request.retention) entry->flag(*request.retention);
    loading.handle = ModelHandle(entry->id);
    return loading;
}

Registry::Entries Registry::all_but(const std::shared_ptr<Entry>& one, const Entries& some) const {
    Entries left;
    for (const auto& entry : entries_)
        if (entry != one && std::ranges::find(some, entry) == some.end()) left.push_back(entry);
    return left;
}

std::vector<Loaded> Registry::residents(const Entries& entries) const {
    const std::scoped_lock state(state_);
    std::vector<Loaded> found;
    for (const auto& entry : entries) {
        const auto standing = standing_of(entry->retention);
        Loaded loaded{
            .name = entry->source.name,
            .held = entry->store->held(),
            .is_idle = entry->users == 0 && !(options_.is_strict && standing == Standing::retained),
            .standing = standing,
            .next_use = next_use(*entry),
            .prompt = entry->prompt,
            .last_use = entry->last_use};
        for (const auto& [device, bytes] : loaded.held)
            loaded.tail[device] = entry->store->tail(device);
        found.push_back(std::move(loaded));
    }
    return found;
}

Phase Registry::plan(const LoadRequest& request, const Entries& others) const {
    const auto room = surroundings_->room(held());
    const auto loaded = residents(others);
    auto first = plan_phase(room, loaded, request.plans.front());
    for (std::size_t i = 1; i < request.plans.size() && !first.plan.fits; ++i) {
        auto next = plan_phase(room, loaded, request.plans[i]);
        if (next.plan.fits) return next;
    }
    return first;
}

bool Registry::does_as_well(const Entry& entry, const plan::Plan& plan) const {
    const auto& realised = entry.store->plan();
    return entry.store->is_complete() && realised.compute == plan.compute &&
           realised.moved <= plan.moved && has_room_for(ModelHandle(entry.id), plan.activations);
}

Error Registry::refusal(const LoadRequest& request, const Phase& phase) const {
    Error error{.code = Code::does_not_fit,
                .what = "cannot load " + request.source->name,
                .why = to_string(phase.plan.shortfall),
                .hint = request.remedy,
                .shortfall = phase.plan.shortfall};
    const auto add = [&error](const std::string& text) {
        error.hint += (error.hint.empty() ? "" : ", or ") + text;
    };
    const auto snapshot = ledger_->snapshot();
    for (const auto& [device, lack] : phase.plan.shortfall) {
        const auto use = snapshot.find(device);
        if (use == snapshot.end() || !use->second.limit) continue;
        add(fmt::format("raise the limit with --memory-limit {}={}", to_string(device),
                        use->second.limit->count() + lack.missing()));
    }
    const std::scoped_lock state(state_);
    // only what lies where room is missing would help
    for (const auto& entry : entries_) {
        if (!options_.is_strict || entry->retention.value != Retention::keep ||
            entry->source.key == request.source->key)
            continue;
        for (const auto& [device, bytes] : entry->store->held())
            if (phase.plan.shortfall.contains(device))
                add(fmt::format("eject {}, which is kept and holds {} on {}", entry->source.name,
                                to_string(bytes), to_string(device)));
    }
    if (options_.is_strict) add("let what is kept make room");
    return error;
}

/// What is missing on each device, beside what is free there before anybody makes room.
void Registry::tell_request(const plan::Plan& plan, const std::shared_ptr<Entry>& entry) const {
    if (options_.memory == nullptr) return;
    options_.memory->snapshot("load_models_gpu_top_level", "start");
    const auto models = held();
    auto room = surroundings_->room(models);
    take(room, models);
    const auto own = entry ? entry->store->held() : std::map<DeviceId, Bytes>{};
    auto wanted = held_by(plan);
    wanted.try_emplace(plan.compute);
    for (const auto& [device, bytes] : wanted) {
        const auto there = own.find(device);
        const auto missing = there == own.end() ? bytes : bytes.minus_or_zero(there->second);
        const bool computes = device == plan.compute;
        if (computes) options_.memory->say(load_request_line(device, missing, plan.activations));
        options_.memory->say(minimum_check_line(device, room_on(room, device),
                                                computes ? missing + plan.activations : missing));
    }
}

/// How many models went as a whole for lack of memory, by device.
void Registry::tell_evictions(const std::map<DeviceId, std::size_t>& models) const {
    if (options_.memory == nullptr || models.empty()) return;
    for (const auto& [device, count] : models) options_.memory->say(eviction_line(device, count));
    options_.memory->snapshot("free_memory/minimum_memory_required", "post");
}

/// Reads what is missing. The model is loaded afterwards, or it is not at all.
Result<std::shared_ptr<Registry::Entry>> Registry::realise(const LoadRequest& request,
                                                           const plan::Plan& plan,
                                                           std::shared_ptr<Entry> entry) {
    std::shared_ptr<weights::WeightStore> former;
    if (entry) {
        // nobody sees it while it changes
        const std::scoped_lock state(state_);
        if (entry->users > 0) return fail(in_use(*request.source));
        former = entry->store;
        std::erase(entries_, entry);
    } else {
        entry = std::make_shared<Entry>();
        entry->source = *request.source;
        entry->id = ++last_id_;
    }
    surroundings_->make_way();
    auto store = read(request, plan, std::move(former));
    entry->store.reset();
    if (!store && is_short_of_memory(store.error())) {
        const auto released = surroundings_->release_kept();
        // a limit that refuses once refuses twice; a device may have been busy
        if (!released.is_zero() || store.error().code == Code::out_of_memory) {
            log_.warning(fmt::format("{}; released {} kept for reuse, trying once more",
                                     to_string(store.error()), to_string(released)));
            store = read(request, plan, nullptr);
        }
    }
    if (!store) {
        auto error = std::move(store).error();
        error.place.file = request.source->key.file.string();
        return fail(std::move(error));
    }
    entry->store = *std::move(store);
    const std::scoped_lock state(state_);
    entries_.push_back(entry);
    return entry;
}

Result<std::shared_ptr<weights::WeightStore>> Registry::read(
    const LoadRequest& request, const plan::Plan& plan,
    std::shared_ptr<weights::WeightStore> former) {
    auto reader = request.source->open();
    if (!reader) return fail(std::move(reader).error());
    return weights::WeightStore::load({.former = std::move(former),
                                       .reader = *std::move(reader),
                                       .table = request.source->table,
                                       .plan = plan,
                                       .ledger = ledger_,
                                       .transfers = transfers_,
                                       .least_segment = request.source->least_segment});
}

Result<ModelUse> Registry::use(ModelHandle handle) {
    // asked without a lock: a disk may be slow
    if (const auto key = file_read_by(handle)) {
        // a file that was deleted can still be read, since it is open
        auto same = require_unchanged(*key);
        if (!same && same.error().code != Code::not_found) return fail(std::move(same).error());
    }
    const std::scoped_lock state(state_);
    const auto entry = find(handle);
    if (!entry || !entry->store->is_complete())
        return fail(Error{.code = Code::not_found,
                          .what = "cannot use the model",
                          .why = entry ? "its end has made room for another since it was loaded"
                                       : "it has been let go since it was loaded",
                          .hint = "load it again"});
    ++entry->users;
    ++entry->uses;
    entry->last_use = ++uses_;
    entry->prompt = prompt_;
    // tried again with less, it is still the same use
    const bool is_repeated = next_expected_ > 0 && is_use_of(expected_[next_expected_ - 1], *entry);
    const auto wanted = wanted_at(*entry);
    if (!is_repeated && wanted < expected_.size()) next_expected_ = wanted + 1;
    return ModelUse(this, entry->id, entry->store);
}

/// The file that blocks of a complete model stay in; nothing if all are in memory.
std::optional<ModelKey> Registry::file_read_by(ModelHandle handle) const {
    const std::scoped_lock state(state_);
    const auto entry = find(handle);
    const bool reads =
        entry && entry->store->is_complete() && entry->store->realised().contains(kDisk);
    return reads ? std::optional(entry->source.key) : std::nullopt;
}

void Registry::end_use(std::uint64_t id) {
    const std::scoped_lock state(state_);
    if (const auto entry = find(ModelHandle(id))) --entry->users;
}

bool Registry::is_loaded(ModelHandle handle) const {
    const std::scoped_lock state(state_);
    const auto entry = find(handle);
    return entry && entry->store->is_complete();
}

bool Registry::has_room_for(ModelHandle handle, Bytes activations) const {
    const auto models = held();
    auto room = surroundings_->room(models);
    take(room, models);
    const std::scoped_lock state(state_);
    const auto entry = find(handle);
    return entry && activations <= room_on(room, entry->store->plan().compute);
}

void Registry::begin_prompt() {
    const std::scoped_lock state(state_);
    ++prompt_;
}

void Registry::expect(std::vector<ExpectedUse> uses) {
    const std::scoped_lock state(state_);
    expected_ = std::move(uses);
    next_expected_ = 0;
}

std::map<DeviceId, Bytes> Registry::held() const {
    const std::scoped_lock state(state_);
    std::map<DeviceId, Bytes> sums;
    for (const auto& entry : entries_)
        for (const auto& [device, bytes] : entry->store->held()) sums[device] += bytes;
    return sums;
}

std::vector<ModelStatus> Registry::models() const {
    const std::scoped_lock state(state_);
    std::vector<ModelStatus> list;
    for (const auto& entry : entries_) list.push_back(status_of(*entry));
    return list;
}

std::shared_ptr<const weights::WeightStore> Registry::weights(ModelHandle handle) const {
    const std::scoped_lock state(state_);
    const auto entry = find(handle);
    return entry ? entry->store : nullptr;
}

std::shared_ptr<Registry::Entry> Registry::find(const ModelKey& key) const {
    const std::scoped_lock state(state_);
    const auto found =
        std::ranges::find_if(entries_, [&](const auto& entry) { return entry->source.key == key; });
    return found == entries_.end() ? nullptr : *found;
}

std::shared_ptr<Registry::Entry> Registry::find(ModelHandle handle) const {
    const auto found =
        std::ranges::find_if(entries_, [&](const auto& entry) { return entry->id == handle.id(); });
    return found == entries_.end() ? nullptr : *found;
}

/// Where in the list of expected uses the model comes next; its size: nowhere.
std::size_t Registry::wanted_at(const Entry& entry) const {
    for (auto i = next_expected_; i < expected_.size(); ++i)
        if (is_use_of(expected_[i], entry)) return i;
    return expected_.size();
}

bool Registry::is_use_of(const ExpectedUse& use, const Entry& entry) {
    return use.file == entry.source.key.file && use.options == entry.source.key.options;
}

std::optional<std::size_t> Registry::next_use(const Entry& entry) const {
    const auto place = wanted_at(entry);
    if (place == expected_.size()) return std::nullopt;
    return place - next_expected_;
}

}  // namespace ballast::residency
