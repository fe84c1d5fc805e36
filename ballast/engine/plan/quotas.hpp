#pragma once
// What a policy grants each device of a model, before pinned blocks are charged.

#include <vector>

#include "ballast/engine/plan/allocation.hpp"

namespace ballast::plan {

/// Bytes of blocks that may be placed on a device.
struct Quota {
    DeviceId device{};
    WideBytes bytes = 0;

    bool operator==(const Quota&) const = default;
};

/// The quotas of a policy for a model of `model` bytes, rounded down, in typed order; in virtual
/// mode the compute device comes first. They may add up to more than the model. What takes the
/// remainder is not among them, unless it was given an amount of its own; in mode automatic nothing
/// is. A fraction of unknown memory is nothing.
std::vector<Quota> quotas_of(const Policy& policy, WideBytes model,
                             const std::vector<PresentDevice>& devices);

}  // namespace ballast::plan
