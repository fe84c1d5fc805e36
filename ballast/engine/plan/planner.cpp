#include "ballast/engine/plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "ballast/engine/plan/automatic.hpp"
#include "ballast/engine/plan/layer_type.hpp"

namespace ballast::plan {
namespace {

/// Smaller models leave hardly any room when they go, and pay for it at each use.
constexpr Bytes kWorthSpreading{std::uint64_t{256} << 20U};

std::vector<PresentDevice> present_devices(const PlanMachine& machine) {
    std::vector<PresentDevice> devices;
    for (const auto& device : machine.devices) devices.push_back({device.id, device.total});
    return devices;
}

class PlanMaker {
public:
    explicit PlanMaker(const PlanRequest& request)
        : request_(request),
          pinned_(pinned_blocks(placement_blocks(request.blocks), request.role)),
          is_pinned_(std::make_unique<bool[]>(request.blocks.size())),
          automatic_{.blocks = request_.blocks,
                     .pinned = {is_pinned_.get(), request.blocks.size()},
                     .machine = request_.machine,
                     .is_file_backed = request.is_file_backed,
                     .activations = request.activations} {
        for (std::size_t i = 0; i < pinned_.size(); ++i) is_pinned_[i] = pinned_[i] != Pinned::no;
    }

    Plan make() {
        plan_.mode = request_.policy.mode;
        plan_.activations = request_.activations;
        plan_.pinned = pinned_;
        if (plan_.mode == Mode::automatic)
            decide();
        else
            obey();
        plan_.per_device = bytes_by_home(request_.blocks, plan_.homes);
        plan_.fits = plan_.shortfall.empty();
        for (const auto& [home, bytes] : plan_.per_device)
            if (home != plan_.compute && request_.machine.needs_no_copy(home, plan_.compute))
                plan_.read_in_place.insert(home);
        estimate();
        warn_of_pools();
        warn_of_little();
        explain();
        return std::move(plan_);
    }

private:
    void decide() {
        auto found = request_.compute ? plan_on(automatic_, *request_.compute)
                                      : plan_automatically(automatic_);
        plan_.compute = found.compute;
        plan_.homes = std::move(found.homes);
        plan_.ring = found.ring;
        plan_.shortfall = std::move(found.shortfall);
        plan_.quotas = bytes_by_home(request_.blocks, plan_.homes);
        plan_.explanation.push_back(fmt::format("automatic: {}", found.method));
    }

    void obey() {
        auto placed = place({.blocks = placement_blocks(request_.blocks),
                             .role = request_.role,
                             .policy = request_.policy,
                             .devices = present_devices(request_.machine)});
        plan_.compute = request_.policy.compute;
        plan_.homes = std::move(placed.homes);
        plan_.pinned = std::move(placed.pinned);
        plan_.quotas = std::move(placed.quotas);
        plan_.warnings = request_.policy.warnings;
        std::ranges::move(placed.warnings, std::back_inserter(plan_.warnings));
        plan_.ring = ring_for(request_.blocks, plan_.homes, plan_.compute, request_.machine);
        plan_.shortfall = shortfall_of(automatic_, plan_.compute, plan_.homes, plan_.ring);
        plan_.explanation.push_back(fmt::format("as asked for: {}", canonical(request_.policy)));
        if (placed.remainder && !placed.left_over.is_zero())
            plan_.explanation.push_back(fmt::format("{} took {} that no quota had room for",
                                                    to_string(*placed.remainder),
                                                    to_string(placed.left_over)));
    }

    [[nodiscard]] bool is_present(DeviceId id) const {
        return request_.machine.find(id) != nullptr || id.kind == DeviceKind::disk;
    }

    /// Nothing for plans with devices that are not there: they do not fit, and have no way.
    void estimate() {
        if (!is_present(plan_.compute) ||
            !std::ranges::all_of(plan_.homes, [&](DeviceId id) { return is_present(id); }))
            return;
        const auto cost =
            step_cost(request_.blocks, plan_.homes, plan_.compute, request_.machine, plan_.ring);
        plan_.moved = cost.moved;
        const auto* device = request_.machine.find(plan_.compute);
        const bool is_known = device != nullptr && device->flops.has_value() &&
                              std::ranges::all_of(request_.blocks, [](const PlanBlock& block) {
                                  return block.flops.has_value();
                              });
        if (is_known) plan_.expected = ExpectedStep{cost.step_ns, cost.bound_ns()};
    }

    void warn_of_pools() {
        for (const auto& device : request_.machine.devices)
            if (device.pool && plan_.per_device.contains(device.id) && device.id != plan_.compute)
                plan_.warnings.push_back(
                    fmt::format("donor {} shares memory with {}: blocks that are stored there save "
                                "nothing",
                                to_string(device.id), to_string(*device.pool)));
    }

    void warn_of_little() {
        Bytes model;
        for (const auto& [home, bytes] : plan_.per_device) model += bytes;
        if (plan_.mode == Mode::automatic || plan_.moved.is_zero() || model >= kWorthSpreading)
            return;
        plan_.warnings.push_back(
            fmt::format("spreading a model of {} gains little: {} of it travel at each use",
                        to_string(model), to_string(plan_.moved)));
    }

    void explain() {
        for (const auto& device : request_.machine.devices) explain(device);
        if (const auto held = plan_.per_device.find(kDisk); held != plan_.per_device.end())
            plan_.explanation.push_back(fmt::format(
                "disk: {} stay in the file and are read at each use", to_string(held->second)));
        for (const auto& [id, lack] : plan_.shortfall)
            plan_.explanation.push_back(remedy_for(id, lack));
    }

    void explain(const PlanDevice& device) {
        const auto held = plan_.per_device.find(device.id);
        const bool computes = device.id == plan_.compute;
        if (held == plan_.per_device.end() && !computes) return;
        auto text = fmt::format("{}: {} of weights", to_string(device.id),
                                to_string(held == plan_.per_device.end() ? Bytes{} : held->second));
        if (computes)
            text += fmt::format(", {} for blocks on their way, {} for activations; computes",
                                to_string(plan_.ring), to_string(plan_.activations));
        text += fmt::format("; may hold {}", to_string(device.capacity));
        if (const auto* link = request_.machine.link(device.id, plan_.compute);
            link != nullptr && !computes)
            text += fmt::format("; reaches {} at {:.1f} GB/s{}", to_string(plan_.compute),
                                static_cast<double>(link->bytes_per_s) / 1e9,
                                link->is_assumed ? " (assumed)" : "");
        plan_.explanation.push_back(std::move(text));
    }

    /// The smallest change that makes room on one device.
    std::string remedy_for(DeviceId id, const Shortfall& lack) const {
        const auto text = to_string(id, lack);
        const auto others = fmt::format("place {} bytes less there", lack.missing());
        if (id == plan_.compute && plan_.per_device.contains(id) &&
            plan_.per_device.at(id).count() < lack.missing())
            return text + "; even without weights it is too small: lower the size or the batch";
        return text + "; " + others +
               (request_.is_file_backed ? ", or leave them on disk" : ", or free as much");
    }

    const PlanRequest& request_;
    std::vector<Pinned> pinned_;
    std::unique_ptr<bool[]> is_pinned_;
    AutomaticRequest automatic_;
    Plan plan_{};
};

}  // namespace

Plan make_plan(const PlanRequest& request) { return PlanMaker(request).make(); }

std::vector<PlacementBlock> placement_blocks(const std::vector<PlanBlock>& blocks) {
    std::vector<PlacementBlock> result;
    result.reserve(blocks.size());
    for (const auto& block : blocks)
        result.push_back({block.name, block.bytes, block.is_fetchable, block.is_loose});
    return result;
}

std::vector<PlanBlock> plan_blocks(const BlockTable& table) {
    std::vector<PlanBlock> blocks;
    blocks.reserve(table.blocks().size());
    for (const auto& block : table.blocks())
        blocks.push_back({.name = block.name,
                          .bytes = block.bytes,
                          .type = std::string(layer_type(block)),
                          .is_loose = block.name == kLooseBlock});
    return blocks;
}

}  // namespace ballast::plan
