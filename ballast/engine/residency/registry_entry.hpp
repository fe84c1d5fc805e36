#pragma once
// What the registry knows of one loaded model. For its own sources alone.

#include "ballast/engine/residency/registry.hpp"

namespace ballast::residency {

struct Registry::Entry {
    std::uint64_t id = 0;
    ModelSource source{};
    std::shared_ptr<weights::WeightStore> store{};
    RetentionFlag retention{};
    int users = 0;
    std::uint64_t uses = 0;
    std::uint64_t last_use = 0;
    std::uint64_t prompt = 0;
    bool goes_after_use = false;
};

}  // namespace ballast::residency
