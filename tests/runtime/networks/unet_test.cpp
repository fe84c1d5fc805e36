#include "ballast/runtime/networks/sd/unet.hpp"

#include <gtest/gtest.h>

#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/golden_networks.hpp"

namespace ballast::runtime::networks::sd {
namespace {

using ballast::testing::expect_close;
using ballast::testing::golden_network;
using ballast::testing::GoldenTensors;
using ballast::testing::ResidentPart;
using ballast::testing::Taps;
using ballast::testing::Tolerances;

const std::string kIo = "sd15-tiny.io.safetensors";

struct TinyUNet {
    explicit TinyUNet(at::ScalarType type = at::kFloat)
        : file(golden_network("sd15-tiny.safetensors")),
          description(value_or_throw(
              models::sd::describe_unet(value_or_throw(formats::open_tensors(file))))),
          network(UNet::build(description.config, description.table)),
          part(file, description.table, type) {}

    at::Tensor run(const std::string& name, nn::LayerListener* listener = nullptr) {
        const nn::Forward forward(part.source, nullptr, listener);
        return network(forward, golden["unet." + name + ".x"],
                       golden["unet." + name + ".timesteps"], golden["unet." + name + ".context"]);
    }

    std::string file;
    models::sd::UNetDescription description;
    UNet network;
    ResidentPart part;
    GoldenTensors golden{golden_network(kIo)};
    Tolerances tolerances{kIo};
};

class UNetCases : public ::testing::TestWithParam<const char*> {};

TEST_P(UNetCases, MatchTheReference) {
    TinyUNet tiny;
    const auto name = "unet." + std::string(GetParam()) + ".out";
    expect_close(tiny.run(GetParam()), tiny.golden[name], tiny.tolerances[name], name);
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
        expect_close(taps.outputs.at(module), tiny.golden[entry.name], tiny.tolerances[entry.name],
                     module);
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
    expect_close(tiny.run("a"), tiny.golden["unet.a.out"], tiny.tolerances["unet.a.out"], "again");
}

}  // namespace
}  // namespace ballast::runtime::networks::sd
