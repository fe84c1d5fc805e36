// How models make room for one that is to be loaded.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ballast/engine/residency/registry_entry.hpp"

namespace ballast::residency {
namespace {

Bytes total(const std::map<DeviceId, Bytes>& sums) {
    Bytes all;
    for (const auto& [device, bytes] : sums) all += bytes;
    return all;
}

}  // namespace

/// Nobody asks for an older version of the file any more.
Registry::Entries Registry::older_versions(const ModelKey& key) const {
    const std::scoped_lock state(state_);
    Entries found;
    for (const auto& entry : entries_) {
        const auto& other = entry->source.key;
        const bool is_older = other.file == key.file && !is_same_version(other, key);
        if (is_older && entry->users == 0) found.push_back(entry);
    }
    return found;
}

/// Of all but `some`.
Registry::Entries Registry::who_can_be_ejected(const ModelKey& key, const Entries& some) const {
    const std::scoped_lock state(state_);
    Entries found;
    for (const auto& entry : entries_) {
        // parts of the same file were loaded with it, not before it
        const bool is_sibling = entry->source.key.file == key.file;
        const bool is_among = std::ranges::find(some, entry) != some.end();
        if (entry->users == 0 && can_be_ejected(entry->retention) && !is_sibling && !is_among)
            found.push_back(entry);
    }
    return found;
}

std::vector<FreedModel> Registry::drop_outdated(const Entries& outdated) {
    std::vector<FreedModel> gone;
    for (const auto& entry : outdated)
        if (auto freed = evict(*entry, {})) {
            log_.info(fmt::format("{} goes: its file was replaced", entry->source.name));
            gone.push_back(*std::move(freed));
        }
    return gone;
}

std::vector<FreedModel> Registry::make_room(const Phase& phase, const Entries& others,
                                            const Entries& ejected, const std::string& name) {
    std::vector<FreedModel> gone;
    for (const auto& entry : ejected)
        if (auto freed = evict(*entry, {})) {
            log_.info(fmt::format("{} is ejected for {}", entry->source.name, name));
            gone.push_back(*std::move(freed));
        }
    std::map<DeviceId, std::size_t> whole;
    for (const auto& eviction : phase.evicted) {
        const auto& entry = others[eviction.index];
        const auto& model = entry->source.name;
        auto freed = evict(*entry, eviction.part);
        if (!freed) continue;
        if (is_retained(*entry))
            log_.warning(fmt::format("{} was to stay loaded, but nothing else makes room for {}",
                                     model, name));
        log_.info(eviction.is_whole() ? fmt::format("{} makes room for {}", model, name)
                                      : fmt::format("the end of {} ({}) makes room for {}", model,
                                                    to_string(total(freed->released)), name));
        if (eviction.is_whole())
            for (const auto& [device, bytes] : freed->released) ++whole[device];
        gone.push_back(*std::move(freed));
    }
    tell_evictions(whole);
    return gone;
}

/// Nothing if somebody has begun to use it since room was counted: then what is to be loaded may be
/// refused by the account.
std::optional<FreedModel> Registry::evict(Entry& entry, const std::map<DeviceId, Bytes>& part) {
    const std::scoped_lock state(state_);
    if (entry.users > 0) return std::nullopt;
    if (part.empty()) return take_out(entry);
    FreedModel freed{.handle = ModelHandle(entry.id),
                     .name = entry.source.name,
                     .compute = entry.store->plan().compute};
    for (const auto& [device, bytes] : part)
        freed.released[device] = entry.store->release_tail(device, bytes);
    return freed;
}

}  // namespace ballast::residency
