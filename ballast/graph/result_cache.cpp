#include "ballast/graph/result_cache.hpp"

#include <set>
#include <utility>

namespace ballast::graph {

void ResultCache::begin_run(const std::vector<std::optional<Digest>>& keys) {
    ++run_;
    for (const auto& key : keys) {
        const auto entry = key ? entries_.find(*key) : entries_.end();
        if (entry != entries_.end()) entry->second.last_run = run_;
    }
    const auto drop_unused_since = [this](std::uint64_t run) {
        for (auto entry = entries_.begin(); entry != entries_.end();)
            entry = entry->second.last_run < run ? drop(entry) : std::next(entry);
    };
    switch (policy_.kind) {
        case CachePolicy::Kind::classic: drop_unused_since(run_); break;
        case CachePolicy::Kind::lru:
            while (entries_.size() > policy_.entries && oldest_run_ < run_)
                drop_unused_since(++oldest_run_);
            break;
        case CachePolicy::Kind::none: clear(); break;
    }
}

const NodeResult* ResultCache::find(const Digest& key) const {
    const auto entry = entries_.find(key);
    return entry == entries_.end() ? nullptr : &entry->second.result;
}

Result<void> ResultCache::store(const Digest& key, NodeResult result) {
    if (policy_.kind == CachePolicy::Kind::none) return {};
    // Charged before the former result goes, so that values in both are not paid for twice.
    if (auto charged = charge(result.outputs); !charged) return charged;
    if (const auto former = entries_.find(key); former != entries_.end()) drop(former);
    entries_.emplace(key, Entry{std::move(result), run_});
    return {};
}

void ResultCache::clear() {
    entries_.clear();
    charges_.clear();
}

Bytes ResultCache::bytes() const {
    std::set<const Value*> counted;
    Bytes sum;
    for (const auto& [key, entry] : entries_)
        for (const auto& value : entry.result.outputs)
            if (value != nullptr && counted.insert(value.get()).second) sum += value->bytes();
    return sum;
}

Result<void> ResultCache::charge(const std::vector<ValuePtr>& values) {
    if (ledger_ == nullptr) return {};
    std::vector<ValuePtr> charged;
    for (const auto& value : values) {
        if (value == nullptr) continue;
        Charge& account = charges_[value.get()];
        if (account.holders == 0) {
            auto granted = ledger_->reserve(kCpu, value->bytes(), device::Tag::results);
            if (!granted) {
                charges_.erase(value.get());
                discharge(charged);
                return fail(std::move(granted).error());
            }
            account.reservation = *std::move(granted);
        }
        ++account.holders;
        charged.push_back(value);
    }
    return {};
}

void ResultCache::discharge(const std::vector<ValuePtr>& values) {
    for (const auto& value : values) {
        const auto account = charges_.find(value.get());
        if (account != charges_.end() && --account->second.holders == 0) charges_.erase(account);
    }
}

ResultCache::Entries::iterator ResultCache::drop(Entries::iterator entry) {
    discharge(entry->second.result.outputs);
    return entries_.erase(entry);
}

}  // namespace ballast::graph
