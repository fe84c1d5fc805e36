#pragma once
// The memory limit of the container that the process runs in.

#include <filesystem>
#include <optional>

#include "ballast/engine/core/bytes.hpp"

namespace ballast::machine {

struct ControlGroupLimit {
    Bytes limit{};
    std::optional<Bytes> used{};    ///< of it, without file pages that can be dropped
    std::filesystem::path group{};  ///< the folder that says so

    bool operator==(const ControlGroupLimit&) const = default;
};

/// The tightest limit on the way from the process's own group (<proc>/self/cgroup) up to the root
/// of the hierarchy: version 2 below <sys>/fs/cgroup (or its `unified` of a hybrid system),
/// version 1 below <sys>/fs/cgroup/memory. Groups that are not visible here are passed over, and a
/// path that leads out of a control group namespace stays at the root. Nothing if no group limits
/// the process to less than `total`.
std::optional<ControlGroupLimit> control_group_limit(const std::filesystem::path& proc,
                                                     const std::filesystem::path& sys,
                                                     std::optional<Bytes> total);

}  // namespace ballast::machine
