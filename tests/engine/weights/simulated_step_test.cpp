// What the cost model expects of a step and what a simulated machine takes for it: the same, to the
// nanosecond.

#include <gtest/gtest.h>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/plan/automatic.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "tests/support/pattern_file.hpp"
#include "tests/support/random.hpp"

namespace ballast::weights {
namespace {

using ::ballast::testing::Random;

constexpr DeviceId kCard{DeviceKind::cuda, 0};
constexpr DeviceId kPeer{DeviceKind::cuda, 1};
constexpr std::uint64_t kRounds = 60;

/// A card that computes, a peer of it, and the host, with rates that divide nothing evenly.
machine::MachineProfile random_machine(Random& random) {
    machine::MachineProfile profile;
    profile.host = {.total = Bytes{std::uint64_t{8} << 30U}};
    const auto rate = [&] { return static_cast<double>(random.between(1, 900)) / 7; };
    for (const auto id : {kCard, kPeer}) {
        machine::DeviceProfile device{.id = id, .total = Bytes{std::uint64_t{1} << 30U}};
        device.tflops = {{"fp16", rate()}};
        profile.devices.push_back(std::move(device));
        profile.links.push_back({.from = kCpu,
                                 .to = id,
                                 .gbps = rate(),
                                 .latency_us = static_cast<double>(random.below(40))});
    }
    profile.links.push_back({.from = kPeer, .to = kCard, .gbps = rate(), .peer = true});
    return profile;
}

/// Three blocks or more, so that the two slots of the ring never have what comes next.
class Scene {
public:
    explicit Scene(Random& random) : profile_(random_machine(random)) {
        const auto size = random.between(1, 4000) * 64;
        std::vector<plan::BlockTensor> tensors;
        for (auto count = random.between(3, 12); count > 0; --count)
            tensors.push_back(
                bytes_at("b" + std::to_string(count) + ".weight", tensors.size() * size, size));
        table_ = plan::group_into_blocks(tensors);
        blocks_ = plan::plan_blocks(table_);
        for (auto& block : blocks_) block.flops = random.below(3'000'000'000);
    }

    [[nodiscard]] std::size_t size() const { return blocks_.size(); }
    [[nodiscard]] Bytes block() const { return blocks_.front().bytes; }

    [[nodiscard]] plan::StepCost expected(const std::vector<DeviceId>& homes, Bytes ring) const {
        return plan::step_cost(blocks_, homes, kCard,
                               plan::plan_machine(profile_, machine::assess(profile_, {})), ring);
    }

    /// Two steps as they are done now: each block is brought, then computes. Returns what the
    /// second one took.
    plan::StepCost simulated(const std::vector<DeviceId>& homes) const {
        device::Ledger ledger;
        device::sim::SimMachine machine(profile_, std::make_shared<device::sim::VirtualTime>(),
                                        &ledger);
        device::Transfers transfers(machine.devices(), ledger);
        plan::Plan made{
            .compute = kCard, .homes = homes, .per_device = plan::bytes_by_home(blocks_, homes)};
        made.ring = block().times(Ring::kSlots);
        const auto store = WeightStore::load({.reader = std::make_shared<PatternReader>(),
                                              .table = table_,
                                              .plan = std::move(made),
                                              .ledger = &ledger,
                                              .transfers = &transfers});
        EXPECT_TRUE(store.has_value()) << to_string(store.error());
        if (!store) return {};
        run(**store, machine);
        const auto before = figures(machine);
        run(**store, machine);
        const auto after = figures(machine);
        return {.step_ns = after.step_ns - before.step_ns,
                .compute_ns = after.compute_ns - before.compute_ns,
                .transfer_ns = after.transfer_ns - before.transfer_ns,
                .moved = after.moved.minus_or_zero(before.moved)};
    }

private:
    void run(const WeightStore& store, device::sim::SimMachine& machine) const {
        for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
            const auto pin = store.pin({b});
            ASSERT_TRUE(pin.has_value()) << to_string(pin.error());
            machine.compute(kCard, *blocks_[b].flops);
        }
    }

    /// What has been so far, all links together.
    static plan::StepCost figures(device::sim::SimMachine& machine) {
        plan::StepCost sums{.step_ns = static_cast<std::uint64_t>(machine.time().now().count()),
                            .compute_ns = machine.compute_ns()};
        for (const auto& link : machine.link_use()) {
            sums.transfer_ns += link.busy_ns;
            sums.moved += link.bytes;
        }
        return sums;
    }

    machine::MachineProfile profile_;
    plan::BlockTable table_;
    std::vector<plan::PlanBlock> blocks_;
};

TEST(SimulatedStep, OfAResidentModelTakesItsArithmeticAsExpected) {
    for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Scene scene(random);
        const std::vector homes(scene.size(), kCard);
        const auto cost = scene.expected(homes, Bytes{});
        EXPECT_EQ(scene.simulated(homes), cost);
        EXPECT_EQ(cost.step_ns, cost.compute_ns);
    }
}

TEST(SimulatedStep, OfAStreamedModelTakesArithmeticAndTransfersOneAfterTheOther) {
    for (const auto home : {kCpu, kPeer})
        for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
            SCOPED_TRACE(to_string(home) + " " + std::to_string(seed));
            Random random(seed);
            const Scene scene(random);
            const std::vector homes(scene.size(), home);
            // with room for one block nothing can come while another is in use
            const auto cost = scene.expected(homes, scene.block());
            const auto taken = scene.simulated(homes);
            EXPECT_EQ(taken, cost);
            EXPECT_EQ(taken.step_ns, cost.compute_ns + cost.transfer_ns);
            const auto overlapped = scene.expected(homes, scene.block().times(2));
            EXPECT_LE(overlapped.step_ns, taken.step_ns);
            EXPECT_GE(overlapped.step_ns, cost.bound_ns());
        }
}

TEST(SimulatedStep, OfAModelOnSeveralDevicesMovesTheBytesAsExpected) {
    for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Scene scene(random);
        // streamed from everywhere, so that no block is still in the ring when it is needed again
        std::vector<DeviceId> homes(scene.size());
        for (auto& home : homes) home = random.once_in(2) ? kCpu : kPeer;
        const auto cost = scene.expected(homes, scene.block());
        const auto taken = scene.simulated(homes);
        EXPECT_EQ(taken.step_ns, cost.step_ns);
        EXPECT_EQ(taken.moved, cost.moved);
        EXPECT_GE(taken.transfer_ns, cost.transfer_ns) << "all links against the busiest one";
    }
}

}  // namespace
}  // namespace ballast::weights
