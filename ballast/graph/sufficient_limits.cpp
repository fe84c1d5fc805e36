#include "ballast/graph/sufficient_limits.hpp"

#include <algorithm>

#include <utility>

namespace ballast::graph {
namespace {

/// Raising one limit can move the lack elsewhere; that ends soon.
constexpr int kMostTries = 8;

/// Whether the limit, and not the device itself, says how much we may hold.
bool is_limited(const PlanningMachine& machine, DeviceId id) {
    const auto limit = machine.options.limits.find(id);
    const auto* device = machine.devices.find(id);
    return limit != machine.options.limits.end() && device != nullptr &&
           device->capacity == limit->second;
}

/// What the host holds for an accelerator beside weights: pieces of files on their way there,
/// texts, latents, pictures.
constexpr Bytes kHostUse{std::uint64_t{16} << 20U};

bool computes_away(const std::vector<WorkflowPhase>& phases) {
    return std::ranges::any_of(
        phases, [](const WorkflowPhase& phase) { return phase.planned.plan.compute != kCpu; });
}

}  // namespace

Shortfalls shortfall_of(const std::vector<WorkflowPhase>& phases) {
    Shortfalls most;
    for (const auto& phase : phases) keep_worst(most, phase.planned.plan.shortfall);
    return most;
}

std::map<DeviceId, Bytes> sufficient_limits(const PlanningMachine& machine,
                                            std::vector<WorkflowPhase> phases,
                                            const WorkflowPlanner& plan) {
    auto raised = machine;
    std::map<DeviceId, Bytes> limits;
    for (int tries = 0; tries < kMostTries; ++tries) {
        const auto lacks = shortfall_of(phases);
        if (lacks.empty()) {
            if (const auto host = limits.find(kCpu); host != limits.end() && computes_away(phases))
                host->second += kHostUse;
            return limits;
        }
        auto options = raised.options;
        for (const auto& [device, lack] : lacks) {
            if (!is_limited(raised, device)) return {};
            limits[device] = options.limits[device] += Bytes{lack.missing()};
        }
        raised = planning_machine(machine.profile, std::move(options), std::nullopt, machine.kind);
        raised.threads = machine.threads;
        auto again = plan(raised);
        if (!again) return {};
        phases = *std::move(again);
    }
    return {};
}

}  // namespace ballast::graph
