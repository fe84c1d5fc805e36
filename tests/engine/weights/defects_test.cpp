// Faults of ComfyUI-MultiGPU 2.6.3 in asking for memory and in keeping account of it, by their
// numbers in our list of them; none of them is ours.

#include <gtest/gtest.h>

#include "ballast/engine/residency/phase.hpp"
#include "tests/engine/weights/two_cards.hpp"

namespace ballast::weights {
namespace {

using testing::kCard;
using testing::kOther;
using testing::TwoCards;

TEST(Defects, D07EveryDeviceOfThePlanIsAskedForItsPartDonorsToo) {
    const std::vector homes{kCard, kOther, kOther, kCpu};
    TwoCards scene;
    const auto made = scene.plan(kCard, homes);
    const auto store = scene.load(made);
    ASSERT_TRUE(store.has_value()) << to_string(store.error());
    for (const auto& [device, bytes] : made.per_device)
        EXPECT_EQ(scene.held(device), device == kCard ? bytes + made.ring : bytes)
            << to_string(device);

    for (const auto device : {kOther, kCpu}) {
        TwoCards narrow;
        narrow.ledger.set_limit(device, made.per_device.at(device).minus_or_zero(Bytes{1}));
        const auto refused = narrow.load(made);
        ASSERT_FALSE(refused.has_value()) << to_string(device);
        EXPECT_EQ(refused.error().shortfall.at(device).needed, made.per_device.at(device).count());
        EXPECT_EQ(narrow.reader->reads, 0) << "before anything is read";
        narrow.expect_nothing_held();
    }
}

TEST(Defects, D09ADistributedModelHoldsToTheByteWhatItsPlanSays) {
    TwoCards scene;
    const auto made = scene.plan(kCard, {kCard, kOther, kCpu, kCpu});
    {
        const auto store = scene.load(made);
        ASSERT_TRUE(store.has_value()) << to_string(store.error());
        EXPECT_EQ((*store)->realised(), made.per_device);
        Bytes sum;
        for (const auto& [device, bytes] : residency::held_by((*store)->plan())) {
            EXPECT_EQ(scene.held(device), bytes) << "what others plan with: " << to_string(device);
            sum += bytes;
        }
        EXPECT_EQ(sum, scene.table.bytes() + made.ring);
    }
    scene.expect_nothing_held();
}

TEST(Defects, D09APlanThatPromisesOtherBytesIsNoPlanOfThisModel) {
    TwoCards scene;
    auto made = scene.plan(kCard, {kCard, kOther, kCpu, kCpu});
    made.per_device[kOther] += Bytes{1};
    const auto store = scene.load(made);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::internal);
    scene.expect_nothing_held();
}

}  // namespace
}  // namespace ballast::weights
