#include "ballast/runtime/networks/sd/unet.hpp"

#include <gtest/gtest.h>

#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::runtime::networks::sd {
namespace {

using ballast::testing::expect_close;
using ballast::testing::Taps;

struct TinyUNet : ballast::testing::TinyPart<UNet, &models::sd::describe_unet> {
    using TinyPart::TinyPart;

    at::Tensor run(const std::string& name, nn::LayerListener* listener = nullptr) {
        const nn::Forward forward(part.source, nullptr, listener);
        return network(forward, golden["unet." + name + ".x"],
                       golden["unet." + name + ".timesteps"], golden["unet." + name + ".context"]);
    }
};

class UNetCases : public ::testing::TestWithParam<const char*> {};

TEST_P(UNetCases, MatchTheReference) {
    TinyUNet tiny;
    const auto name = "unet." + std::string(GetParam()) + ".out";
    tiny.expect(tiny.run(GetParam()), name);
}

INSTANTIATE_TEST_SUITE_P(All, UNetCases, ::testing::Values("a", "b", "c", "d"));

TEST(UNet, MatchesTheReferenceInEveryTappedModule) {
    TinyUNet tiny;
    Taps taps;
    tiny.run("a", &taps);
    const std::string prefix = "unet.a.tap.";
    int compared = 0;
    for (const auto& entry : tiny.golden.directory().entries()) {
        if (!entry.name.starts_with(prefix)) continue;
        const auto module = entry.name.substr(prefix.size());
        ASSERT_TRUE(taps.outputs.contains(module)) << module;
        tiny.expect(taps.outputs.at(module), entry.name);
        ++compared;
    }
    EXPECT_EQ(compared, 9);
}

TEST(UNet, ComputesInBf16WithinTheTypesPrecision) {
    TinyUNet tiny(at::kBFloat16);
    const auto expected = tiny.golden["unet.a.out"];
    const auto magnitude = expected.abs().max().item<double>();
    expect_close(tiny.run("a"), expected, 3 * 1.7e-2 * magnitude, "unet.a.out in bf16");
}

TEST(UNet, LeavesItsInputsAlone) {
    TinyUNet tiny;
    const auto x = tiny.golden["unet.a.x"];
    const auto context = tiny.golden["unet.a.context"];
    const nn::Forward forward(tiny.part.source);
    const auto x_before = x.clone();
    const auto context_before = context.clone();
    tiny.network(forward, x, tiny.golden["unet.a.timesteps"], context);
    EXPECT_TRUE(x.equal(x_before));
    EXPECT_TRUE(context.equal(context_before));
}

TEST(UNet, GivesTheSameBitsEveryTime) {
    TinyUNet tiny;
    EXPECT_TRUE(tiny.run("b").equal(tiny.run("b")));
}

/// Wants to stop after a number of layers.
class StopAfter final : public nn::StopCheck {
public:
    explicit StopAfter(int layers) : left_(layers) {}
    [[nodiscard]] bool stop_requested() const override { return left_-- <= 0; }

private:
    mutable int left_;
};

TEST(UNet, StopsAtTheNextLayerAndCanRunAgain) {
    TinyUNet tiny;
    const StopAfter stop(7);
    const nn::Forward forward(tiny.part.source, &stop);
    const auto stopped = guarded("denoise", [&] {
        return tiny.network(forward, tiny.golden["unet.a.x"], tiny.golden["unet.a.timesteps"],
                            tiny.golden["unet.a.context"]);
    });
    ASSERT_FALSE(stopped.has_value());
    EXPECT_EQ(stopped.error().code, Code::interrupted);
    EXPECT_EQ(tiny.part.store->pins(), 0U);
    tiny.expect(tiny.run("a"), "unet.a.out");
}

}  // namespace
}  // namespace ballast::runtime::networks::sd
