#pragma once
// Results of nodes that outlive the run that made them.

#include <map>
#include <optional>
#include <vector>

#include "ballast/engine/core/sha256.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/graph/node_runner.hpp"

namespace ballast::graph {

/// Which results outlive a run.
struct CachePolicy {
    enum class Kind {
        classic,  ///< those of nodes that the next workflow has, too
        lru,      ///< those of the last runs, as many runs back as `entries` results allow
        none,     ///< nothing
    };
    Kind kind = Kind::classic;
    std::size_t entries = 0;  ///< for `lru`; results of the current run are kept even beyond it
};

/// Results by signature. Their memory is charged to a ledger, each value once, however many
/// results share it. One thread at a time.
class ResultCache {
public:
    /// `ledger` may be null; else it must outlive the cache.
    ResultCache(CachePolicy policy, device::Ledger* ledger) : policy_(policy), ledger_(ledger) {}

    /// Drops what the policy does not keep for a workflow whose nodes have these keys.
    void begin_run(const std::vector<std::optional<Digest>>& keys);

    /// Null if there is no such result. Valid until the cache changes.
    [[nodiscard]] const NodeResult* find(const Digest& key) const;

    /// Keeps a result, in place of a former one with that key. Fails with `does_not_fit` when the
    /// ledger refuses its memory; then nothing has changed.
    Result<void> store(const Digest& key, NodeResult result);

    void clear();
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// Memory of all kept values, each counted once.
    [[nodiscard]] Bytes bytes() const;

private:
    struct Entry {
        NodeResult result;
        std::uint64_t last_run = 0;
    };
    struct Charge {
        device::Reservation reservation;
        std::size_t holders = 0;
    };
    using Entries = std::map<Digest, Entry>;

    Result<void> charge(const std::vector<ValuePtr>& values);
    void discharge(const std::vector<ValuePtr>& values);
    Entries::iterator drop(Entries::iterator entry);

    CachePolicy policy_;
    device::Ledger* ledger_;
    Entries entries_;
    std::map<const Value*, Charge> charges_;
    std::uint64_t run_ = 0;
    std::uint64_t oldest_run_ = 0;
};

}  // namespace ballast::graph
