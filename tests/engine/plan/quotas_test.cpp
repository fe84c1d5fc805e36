#include "ballast/engine/plan/quotas.hpp"

#include <gmock/gmock.h>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using Quotas = std::vector<Quota>;

constexpr WideBytes kTenGib = WideBytes{10} << 30U;

Quotas quotas(const std::string& text, const AllocationContext& context = system_a()) {
    return quotas_of(policy_of(text, context), kTenGib, context.devices);
}

TEST(Quotas, AreWhatWasTypedInItsOrder) {
    EXPECT_EQ(quotas("cuda:1,3g;cuda:0,2.5gb;cpu,*"),
              (Quotas{{cuda(1), gib(3).count()}, {cuda(0), mib(2560).count()}}));
}

TEST(Quotas, PercentagesAreOfTheModelOrOfTheirSum) {
    EXPECT_EQ(quotas("cuda:0,50%;cpu,*"), (Quotas{{cuda(0), gib(5).count()}}));
    EXPECT_EQ(
        quotas("cuda:0,8%;cuda:1,8%;cpu,4%"),
        (Quotas{{cuda(0), gib(4).count()}, {cuda(1), gib(4).count()}, {kCpu, gib(2).count()}}));
}

TEST(Quotas, FractionsAreOfTheDevicesMemory) {
    EXPECT_EQ(quotas("cuda:0,0.5;cpu,*"), (Quotas{{cuda(0), gib(12).count()}}));
}

TEST(Quotas, VirtualMemoryLeavesTheComputeDeviceForTheDonors) {
    EXPECT_EQ(quotas("#cuda:0;6.0;cuda:1,cpu", system_t()),
              (Quotas{{cuda(0), gib(4).count()}, {cuda(1), gib(4).count()}}));
    EXPECT_EQ(quotas("#cuda:0;12.0;cpu"), (Quotas{{cuda(0), 0}}));
}

TEST(Quotas, WithoutARequestThereAreNone) {
    EXPECT_EQ(quotas_of({}, kTenGib, system_a().devices), Quotas{});
}

}  // namespace
}  // namespace ballast::plan
