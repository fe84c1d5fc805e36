#pragma once
// What the registry knows of one loaded model. For its own sources alone.

#include "ballast/engine/residency/registry.hpp"

namespace ballast::residency {

/// Whether a model goes when nobody uses it any more, since somebody asked for that meanwhile.
enum class Registry::GoesAfterUse {
    no,
    unless_kept,  ///< its flag let it go
    certainly,    ///< it was asked for whatever its flag
};

struct Registry::Entry {
    std::uint64_t id = 0;
    ModelSource source{};
    std::shared_ptr<weights::WeightStore> store{};
    RetentionFlag retention{};
    int users = 0;
    std::uint64_t uses = 0;
    std::uint64_t last_use = 0;
    std::uint64_t prompt = 0;
    GoesAfterUse goes_after_use = GoesAfterUse::no;

    [[nodiscard]] bool may_go() const { return retention.value == Retention::release; }
    /// Who says that it is kept takes back what only its flag had asked for.
    void flag(RetentionFlag flag) {
        retention = flag;
        if (!may_go() && goes_after_use == GoesAfterUse::unless_kept)
            goes_after_use = GoesAfterUse::no;
    }
};

}  // namespace ballast::residency
