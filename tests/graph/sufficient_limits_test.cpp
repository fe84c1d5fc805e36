// Which limits would have to be raised, with a planner that needs what it is told to need.

#include "ballast/graph/sufficient_limits.hpp"

#include <gmock/gmock.h>

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr DeviceId kGpu{DeviceKind::cuda, 0};
constexpr Bytes kGiB{std::uint64_t{1} << 30U};

class SufficientLimits : public ::testing::Test {
protected:
    SufficientLimits() {
        profile_.host = {.total = kGiB.times(8), .available = kGiB.times(8)};
        profile_.devices = {{.id = kGpu,
                             .vendor = "nvidia",
                             .total = kGiB.times(4),
                             .free = kGiB.times(4),
                             .integrated = false}};
    }

    [[nodiscard]] PlanningMachine limited(std::map<DeviceId, Bytes> limits) const {
        return planning_machine(profile_, {.limits = std::move(limits)});
    }

    /// Plans a workflow whose phases need so much, each on one device.
    [[nodiscard]] std::map<DeviceId, Bytes> limits_for(
        const std::vector<std::pair<DeviceId, Bytes>>& needs, std::map<DeviceId, Bytes> limits) {
        const auto machine = limited(std::move(limits));
        const WorkflowPlanner plan =
            [&needs](const PlanningMachine& on) -> Result<std::vector<WorkflowPhase>> {
            std::vector<WorkflowPhase> phases(needs.size());
            for (std::size_t i = 0; i < needs.size(); ++i) {
                const auto& [device, need] = needs[i];
                const auto room = on.devices.find(device)->capacity;
                auto& made = phases[i].planned.plan;
                made.fits = need <= room;
                if (!made.fits)
                    made.shortfall[device] = {.needed = need.count(), .available = room.count()};
            }
            return phases;
        };
        return sufficient_limits(machine, *plan(machine), plan);
    }

    machine::MachineProfile profile_;
};

TEST_F(SufficientLimits, AreWhatTheLargestPhaseNeeds) {
    EXPECT_THAT(limits_for({{kCpu, kGiB}, {kCpu, kGiB.times(2)}}, {{kCpu, Bytes{1000}}}),
                ElementsAre(Pair(kCpu, kGiB.times(2))));
}

TEST_F(SufficientLimits, LeaveOutWhatNeedNotBeRaised) {
    EXPECT_THAT(limits_for({{kGpu, kGiB}}, {{kGpu, Bytes{1000}}, {kCpu, kGiB}}),
                ElementsAre(Pair(kGpu, kGiB)));
    EXPECT_THAT(limits_for({{kGpu, kGiB}, {kCpu, kGiB}}, {{kGpu, Bytes{5}}, {kCpu, Bytes{6}}}),
                ElementsAre(Pair(kCpu, kGiB), Pair(kGpu, kGiB)));
}

TEST_F(SufficientLimits, ThereAreNoneForADeviceThatIsTooSmallItself) {
    EXPECT_THAT(limits_for({{kGpu, kGiB.times(5)}}, {{kGpu, kGiB}}), IsEmpty());
    EXPECT_THAT(limits_for({{kGpu, kGiB.times(5)}}, {{kGpu, kGiB.times(100)}}), IsEmpty());
    EXPECT_THAT(limits_for({{kGpu, kGiB.times(5)}}, {}), IsEmpty());
    EXPECT_THAT(limits_for({{kGpu, kGiB.times(5)}, {kCpu, kGiB}}, {{kCpu, Bytes{6}}}), IsEmpty());
}

TEST_F(SufficientLimits, AreNotSoughtWithoutEnd) {
    const auto machine = limited({{kCpu, Bytes{1}}});
    int calls = 0;
    const WorkflowPlanner never = [&](const PlanningMachine& on) {
        ++calls;
        std::vector<WorkflowPhase> phases(1);
        const auto room = on.devices.find(kCpu)->capacity.count();
        phases[0].planned.plan.shortfall[kCpu] = {.needed = room + 1, .available = room};
        return Result<std::vector<WorkflowPhase>>(std::move(phases));
    };
    EXPECT_THAT(sufficient_limits(machine, *never(machine), never), IsEmpty());
    EXPECT_LT(calls, 20);
}

}  // namespace
}  // namespace ballast::graph
