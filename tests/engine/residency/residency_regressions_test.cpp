// What random steps have found, each in its fewest steps.

#include <gtest/gtest.h>

#include <array>

#include "tests/engine/residency/property_scene.hpp"

namespace ballast::residency::property {
namespace {

using namespace ballast::literals;

/// Plans by their place in `plan_makers`.
constexpr std::uint32_t kOnCard = 1;
constexpr std::uint32_t kSpread = 3;
constexpr std::uint32_t kOnHost = 5;
constexpr std::uint32_t kAtOther = 7;
constexpr std::uint32_t kAnywhere = 8;

class ResidencyRegressions : public ::testing::Test {
protected:
    Result<Loading> load(const ModelSource& source, std::size_t model, std::uint32_t plan,
                         RetentionFlag flag = {}, Bytes activations = {}) {
        const auto plans = plan_makers(scene.files.table(model), plan, activations);
        return scene.registry.load({.source = &source, .retention = flag, .plans = plans});
    }
    Result<Loading> load(std::size_t model, std::uint32_t plan, RetentionFlag flag = {}) {
        return load(scene.files.source(model), model, plan, flag);
    }

    Scene scene{Variant{}};
};

TEST_F(ResidencyRegressions, AModelIsNotGivenUpForAPlaceThatItCannotBeReadInto) {
    const auto loaded = load(1, kSpread).value();
    scene.files.remove(1);
    const auto before = scene.registry.models();
    const auto moved = load(1, kOnHost);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, Code::not_found);
    EXPECT_EQ(scene.registry.models(), before);
    EXPECT_TRUE(scene.registry.is_loaded(loaded.handle));
}

TEST_F(ResidencyRegressions, AModelIsNotFilledUpFromAnotherVersionOfItsFile) {
    const auto source = scene.files.source(1);
    const auto loaded = load(source, 1, kSpread).value();
    scene.files.replace(1);
    const auto moved = load(source, 1, kOnHost);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, Code::corrupt_file);
    EXPECT_TRUE(scene.registry.is_loaded(loaded.handle));
}

TEST_F(ResidencyRegressions, AnOlderVersionGoesOnlyForALoadThatFits) {
    const auto older = load(1, kOnHost).value();
    scene.files.replace(1);
    auto others = scene.ledger.reserve(kCard, 96_KiB, device::Tag::activations).value();
    const auto refused = load(1, kOnCard);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::does_not_fit);
    EXPECT_TRUE(scene.registry.is_loaded(older.handle));

    others.release();
    const auto newer = load(1, kOnCard).value();
    ASSERT_EQ(newer.evicted.size(), 1U);
    EXPECT_EQ(newer.evicted.front().handle, older.handle);
    EXPECT_FALSE(scene.registry.is_loaded(older.handle));
}

TEST_F(ResidencyRegressions, WhatWaitedForAUseGoesAfterItWithoutAnotherRequest) {
    const auto handle = load(1, kOnCard).value().handle;
    {
        const auto use = scene.registry.use(handle).value();
        scene.flow.request({.unload_models = true});
        ASSERT_EQ(scene.flow.settle([] {}).value().models.kept.size(), 1U);
    }
    const auto answer = scene.flow.settle([] {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->models.freed.size(), 1U);
    EXPECT_FALSE(scene.registry.is_loaded(handle));
    EXPECT_FALSE(scene.flow.settle([] {}));
}

TEST_F(ResidencyRegressions, AModelThatIsKeptMeanwhileDoesNotGoAfterItsUse) {
    const auto handle = load(1, kOnCard).value().handle;
    {
        const auto use = scene.registry.use(handle).value();
        scene.flow.request({.unload_models = true});
        static_cast<void>(scene.flow.settle([] {}));
        ASSERT_TRUE(scene.registry.set_retention(Files::name(1), Retention::keep));
    }
    EXPECT_FALSE(scene.flow.settle([] {}));
    EXPECT_TRUE(scene.registry.is_loaded(handle));
}

TEST_F(ResidencyRegressions, AKeptModelThatWasEjectedInUseIsSaidToGoAfterThat) {
    const auto handle = load(1, kOnCard, {.value = Retention::keep}).value().handle;
    const auto use = scene.registry.use(handle).value();
    ASSERT_TRUE(scene.flow.request_eject(Files::name(1)));
    scene.flow.request({.unload_models = true});
    const auto answer = scene.flow.settle([] {}).value();
    ASSERT_EQ(answer.models.kept.size(), 1U);
    EXPECT_EQ(answer.models.kept.front().why, KeptBecause::in_use);
}

TEST_F(ResidencyRegressions, EjectingTwiceBeforeItsTurnIsNoError) {
    ASSERT_TRUE(load(1, kOnCard));
    ASSERT_TRUE(scene.flow.request_eject(Files::name(1)));
    ASSERT_TRUE(scene.flow.request_eject(Files::name(1)));
    const auto answer = scene.flow.settle([] {}).value();
    EXPECT_EQ(answer.models.freed.size(), 1U);
    EXPECT_TRUE(answer.errors.empty());
}

TEST_F(ResidencyRegressions, ACardIsClearedAlsoWhereAnotherOneLacksLess) {
    const auto in_the_way = load(2, kAtOther).value().handle;
    const auto hold = [this](DeviceId device, Bytes bytes) {
        return scene.ledger.reserve(device, bytes, device::Tag::results).value();
    };
    // on the first card too little is left whoever goes, on the host nothing
    const std::array others{hold(kCard, 57_KiB), hold(kOther, 10_KiB), hold(kCpu, 128_KiB)};
    const auto loaded = load(scene.files.source(0), 0, kAnywhere, {}, 40_KiB);
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    EXPECT_EQ(loaded->plan.compute, kOther);
    ASSERT_EQ(loaded->evicted.size(), 1U);
    EXPECT_EQ(loaded->evicted.front().handle, in_the_way);
}

}  // namespace
}  // namespace ballast::residency::property
