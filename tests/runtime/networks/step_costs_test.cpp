// The shape rules for activations against what the networks allocate.

#include "ballast/models/step_costs.hpp"

#include <gtest/gtest.h>

#include "ballast/models/sd/clip_costs.hpp"
#include "ballast/models/sd/unet_costs.hpp"
#include "ballast/models/sd/vae_costs.hpp"
#include "ballast/runtime/networks/sd/unet.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "ballast/runtime/text/clip_text_model.hpp"
#include "ballast/runtime/vae/vae.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::runtime {
namespace {

using models::StepCosts;
using models::StepShape;

/// The most that `work` held at once, what it takes from outside included if it makes that itself.
template <typename Work>
double measured_peak(const Work& work) {
    // with one thread torch convolves in another way
    ops::set_threads(2);
    const auto ledger = std::make_shared<device::Ledger>();
    const HostAccounting accounting(ledger);
    work();
    return static_cast<double>(
        ledger->snapshot().at(kCpu).tag(device::Tag::activations).peak.count());
}

/// Small networks would not do: the tiles of attention, which no rule counts, are as large as their
/// feature maps.
void expect_within(const Result<StepCosts>& costs, double measured) {
    ASSERT_TRUE(costs.has_value()) << to_string(costs.error());
    const auto ruled = static_cast<double>(costs->peak_activation_bytes.count());
    EXPECT_GE(ruled, 0.95 * measured) << ruled / measured;
    EXPECT_LE(ruled, 1.05 * measured) << ruled / measured;
}

class UNetPeak : public ::testing::TestWithParam<StepShape> {};

TEST_P(UNetPeak, IsWhatTheNetworkHolds) {
    const auto shape = GetParam();
    const auto type = shape.element_bytes == 4 ? at::kFloat : at::kBFloat16;
    ballast::testing::TinyPart<networks::sd::UNet, &models::sd::describe_unet> tiny(type);
    const auto& config = tiny.description.config;
    const auto measured = measured_peak([&] {
        const auto rows = shape.batch * shape.sides;
        tiny.network(nn::Forward(tiny.part.source),
                     ops::zeros({rows, config.in_channels, shape.height, shape.width}, at::kFloat),
                     ops::zeros({rows}, at::kFloat),
                     ops::zeros({rows, shape.tokens, config.context_dim}, at::kFloat));
    });
    expect_within(models::sd::unet_costs(config, tiny.description.table, shape), measured);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, UNetPeak,
    ::testing::Values(StepShape{.height = 64, .width = 64},
                      StepShape{.height = 48, .width = 33, .sides = 2},
                      StepShape{.batch = 2, .height = 40, .width = 72, .tokens = 154, .sides = 2},
                      StepShape{.height = 96, .width = 80, .element_bytes = 2}));

class VaePeak : public ::testing::TestWithParam<StepShape> {
protected:
    ballast::testing::TinyPart<vae::Vae, &models::sd::describe_vae> tiny;
};

TEST_P(VaePeak, IsWhatDecodingHolds) {
    const auto shape = GetParam();
    const auto& config = tiny.description.config;
    const auto measured = measured_peak([&] {
        tiny.network.decode(
            nn::Forward(tiny.part.source),
            ops::zeros({shape.batch, config.embed_dim, shape.height, shape.width}, at::kFloat));
    });
    expect_within(models::sd::vae_decode_costs(config, tiny.description.table, shape), measured);
}

TEST_P(VaePeak, IsWhatEncodingHolds) {
    const auto shape = GetParam();
    const auto& config = tiny.description.config;
    const auto measured = measured_peak([&] {
        tiny.network.encode(nn::Forward(tiny.part.source),
                            ops::zeros({shape.batch, shape.height * config.factor(),
                                        shape.width * config.factor(), 3},
                                       at::kFloat));
    });
    expect_within(models::sd::vae_encode_costs(config, tiny.description.table, shape), measured);
}

INSTANTIATE_TEST_SUITE_P(Shapes, VaePeak,
                         ::testing::Values(StepShape{.height = 16, .width = 16},
                                           StepShape{.height = 24, .width = 9},
                                           StepShape{.batch = 3, .height = 16, .width = 20}));

class ClipPeak : public ::testing::TestWithParam<StepShape> {};

TEST_P(ClipPeak, IsWhatTheEncoderHolds) {
    const auto shape = GetParam();
    ballast::testing::TinyPart<text::ClipTextModel, &models::sd::describe_clip> tiny;
    const auto windows = shape.tokens / 77;
    const auto measured = measured_peak([&] {
        const nn::Forward forward(tiny.part.source);
        const auto tokens = tiny.network.embed(forward, ops::zeros({windows, 77}, at::kLong));
        tiny.network.run(forward, tokens,
                         std::vector<std::int64_t>(static_cast<std::size_t>(windows)), -1);
    });
    expect_within(models::sd::clip_costs(tiny.description.config, tiny.description.table, shape),
                  measured);
}

INSTANTIATE_TEST_SUITE_P(Windows, ClipPeak,
                         ::testing::Values(StepShape{.tokens = 77}, StepShape{.tokens = 77 * 12}));

}  // namespace
}  // namespace ballast::runtime
