// What a step costs by shape rules, against sums by hand and published figures.

#include "ballast/models/step_costs.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "ballast/engine/plan/planner.hpp"
#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/clip_costs.hpp"
#include "ballast/models/sd/parts.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/unet_costs.hpp"
#include "ballast/models/sd/vae.hpp"
#include "ballast/models/sd/vae_costs.hpp"
#include "ballast/models/tracing.hpp"
#include "tests/models/headers.hpp"

namespace ballast::models {
namespace {

using sd::ClipConfig;
using sd::UNetConfig;
using sd::VaeConfig;
using testing::directory_of;
using ::testing::HasSubstr;

constexpr double kTera = 1e12;

template <typename T>
T value_of(Result<T> result) {
    if (!result) throw std::invalid_argument(to_string(result.error()));
    return *std::move(result);
}

plan::BlockTable table_of(const UNetConfig& config) {
    return value_of(sd::unet_blocks(directory_of(parameters(config))));
}
plan::BlockTable table_of(const ClipConfig& config) {
    return value_of(sd::clip_blocks(directory_of(parameters(config), "text_model.")));
}
plan::BlockTable table_of(const VaeConfig& config) {
    return value_of(sd::vae_blocks(directory_of(parameters(config))));
}

/// The smallest network: one level, one residual block, transformers everywhere.
UNetConfig small_unet() {
    return {.model_channels = 32,
            .channel_mult = {1},
            .num_res_blocks = {1},
            .transformer_depth = {1},
            .transformer_depth_middle = 1,
            .transformer_depth_output = {1, 1},
            .context_dim = 16,
            .norm_groups = {}};
}

BlockCost cost(const plan::BlockTable& table, const StepCosts& costs, std::string_view block) {
    const auto id = table.find(block);
    if (!id) throw std::invalid_argument(std::string(block));
    return costs.blocks.at(id->index);
}

TEST(Tracer, CountsTensorsWhileTheyLive) {
    const plan::BlockTable table({{.name = "a"}, {.name = "b"}});
    Tracer tracer(table, 2);
    const auto x = tracer.tensor({.rows = 3, .channels = 4, .height = 5, .width = 6});  // 720 bytes
    {
        const auto y = tracer.linear("a", x, 8);  // 1440
        const auto z = tracer.linear("b", y, 4);  // 720
    }
    const auto costs = value_of(tracer.costs());
    EXPECT_EQ(costs.blocks[0], (BlockCost{2 * 8 * 4 * 90, Bytes{720 + 1440}}));
    EXPECT_EQ(costs.blocks[1], (BlockCost{2 * 4 * 8 * 90, Bytes{720 + 1440 + 720}}));
    EXPECT_EQ(costs.peak_activation_bytes, Bytes{2880});
}

TEST(Tracer, CopiesAndPartsShareTheirMemory) {
    const plan::BlockTable table({{.name = "a"}});
    Tracer tracer(table, 4);
    auto x = tracer.tensor({.channels = 8});
    const auto skip = x;
    const auto part = x.narrowed(2);
    x = {};
    tracer.linear("a", part, 1);
    EXPECT_EQ(value_of(tracer.costs()).blocks[0], (BlockCost{2 * 2, Bytes{32 + 4}}));
}

TEST(Tracer, AConvolutionHoldsItsWeightsOnceMoreOrItsWindows) {
    const plan::BlockTable table({{.name = "many"}, {.name = "few"}});
    Tracer tracer(table, 4);
    // 64 positions, 8 channels: the weights, 8 * 2 * 9 numbers, are the smaller copy
    auto x = tracer.tensor({.channels = 2, .height = 8, .width = 8});
    tracer.convolution("many", x, 8);
    // 4 * 4 positions, 32 channels: the windows, 16 * 2 * 9
    tracer.convolution("few", x, 32, {.stride = 2});
    const auto costs = value_of(tracer.costs());
    EXPECT_EQ(costs.blocks[0], (BlockCost{2 * 8 * 2 * 9 * 64, Bytes{4 * (128 + 512 + 144)}}));
    EXPECT_EQ(costs.blocks[1], (BlockCost{2 * 32 * 2 * 9 * 16, Bytes{4 * (128 + 512 + 288)}}));
}

TEST(Tracer, AttentionCountsForTheBlockBehindIt) {
    const plan::BlockTable table({{.name = "out"}});
    Tracer tracer(table, 4);
    const auto q = tracer.tensor({.rows = 2, .channels = 8, .height = 10});
    const auto k = tracer.tensor({.rows = 2, .channels = 8, .height = 3});
    const auto mixed = tracer.attention(q, k, k, 4);
    tracer.linear("out", mixed, 1);
    const auto costs = value_of(tracer.costs());
    EXPECT_EQ(costs.blocks[0].flops, 2U * (4 * 10 * 3 * 8) + 2U * 8 * 20);
    // q, k, the result, and one sum for each of 4 heads and 20 positions
    EXPECT_EQ(costs.blocks[0].activation_bytes, Bytes{4 * (160 + 48 + 160 + 80)});
}

TEST(Tracer, RefusesTheTableOfAnotherModel) {
    const plan::BlockTable table({{.name = "a"}});
    Tracer tracer(table, 4);
    tracer.linear("b", tracer.tensor({}), 1);
    const auto costs = tracer.costs();
    ASSERT_FALSE(costs.has_value());
    EXPECT_EQ(costs.error().place.key, "b");
}

TEST(UNetCosts, AreThoseOfASmallNetworkByHand) {
    const auto config = small_unet();
    const auto table = table_of(config);
    const auto costs = value_of(sd::unet_costs(
        config, table, {.batch = 2, .height = 8, .width = 4, .tokens = 5, .element_bytes = 4}));
    const auto flops = [&](std::string_view block) { return cost(table, costs, block).flops; };
    constexpr std::uint64_t kCells = 2 * 8 * 4;  // of both latents
    EXPECT_EQ(flops("time_embed.0"), 2U * 32 * 128 * 2);
    EXPECT_EQ(flops("input_blocks.0.0"), 2U * 4 * 32 * 9 * kCells);
    EXPECT_EQ(flops("input_blocks.1.0.in_layers.0"), 8U * 32 * kCells);
    EXPECT_EQ(flops("input_blocks.1.0.emb_layers.1"), 2U * 128 * 32 * 2);
    const std::string block = "input_blocks.1.1.transformer_blocks.0.";
    EXPECT_EQ(flops(block + "attn1.to_q"), 2U * 32 * 32 * kCells);
    EXPECT_EQ(flops(block + "attn1.to_out.0"), 2U * 32 * 32 * kCells + 4U * 32 * kCells * (8 * 4));
    EXPECT_EQ(flops(block + "attn2.to_k"), 2U * 16 * 32 * (2 * 5));
    EXPECT_EQ(flops(block + "attn2.to_out.0"), 2U * 32 * 32 * kCells + 4U * 32 * kCells * 5);
    EXPECT_EQ(flops(block + "ff.net.0.proj"), 2U * 32 * 256 * kCells);
    EXPECT_EQ(flops(block + "ff.net.2"), 2U * 128 * 32 * kCells);
    EXPECT_EQ(flops("output_blocks.0.0.in_layers.2"), 2U * 64 * 32 * 9 * kCells);
    EXPECT_EQ(flops("output_blocks.0.0.skip_connection"), 2U * 64 * 32 * kCells);
    EXPECT_EQ(flops("out.2"), 2U * 32 * 4 * 9 * kCells);
}

TEST(UNetCosts, HoldSkipsContextAndInputs) {
    const auto config = small_unet();
    const auto table = table_of(config);
    const auto costs = value_of(sd::unet_costs(
        config, table, {.batch = 2, .height = 8, .width = 4, .tokens = 5, .element_bytes = 4}));
    constexpr std::uint64_t kCells = 2 * 8 * 4;
    constexpr std::uint64_t kWide = 32 * kCells;  // numbers in a feature map
    // the latent, the texts, the timestep's embedding
    constexpr std::uint64_t kGiven = 4 * kCells + 2 * 5 * 16 + 2 * 128;
    // the largest moment of the transformer in output_blocks.0, where the first skip waits: its
    // input, the rows, their norm, eight times the width, and the result
    EXPECT_EQ(
        cost(table, costs, "output_blocks.0.1.transformer_blocks.0.ff.net.2").activation_bytes,
        Bytes{4 * (kGiven + kWide + 12 * kWide)});
    // the first convolution: the latent once more, in another order, and the weights
    EXPECT_EQ(cost(table, costs, "input_blocks.0.0").activation_bytes,
              Bytes{4 * (kGiven + 4 * kCells + kWide + 32 * 4 * 9)});
}

TEST(UNetCosts, GrowWithEveryRowAndWithWiderNumbers) {
    const auto config = small_unet();
    const auto table = table_of(config);
    const auto one = value_of(sd::unet_costs(config, table, {.height = 16, .width = 16}));
    const auto guided =
        value_of(sd::unet_costs(config, table, {.height = 16, .width = 16, .sides = 2}));
    const auto half =
        value_of(sd::unet_costs(config, table, {.height = 16, .width = 16, .element_bytes = 2}));
    EXPECT_EQ(guided.flops(), 2 * one.flops());
    EXPECT_GT(guided.peak_activation_bytes, one.peak_activation_bytes);
    EXPECT_EQ(half.flops(), one.flops());
    EXPECT_LT(half.peak_activation_bytes, one.peak_activation_bytes);
}

TEST(UNetCosts, OfStableDiffusion15AreThePublishedOnes) {
    const auto table = table_of(UNetConfig{});
    const auto costs = value_of(sd::unet_costs({}, table, {}));
    // Convolutions and linear layers: 339 G multiply-adds for a latent of 64x64 (Kim et al.,
    // "BK-SDM", 2023, table 1). Attention, which such counters leave out, adds 2 (m + 77) n C in
    // each transformer: 5 with m = n = 64^2 and C = 320, 5 with 32^2 and 640, 5 with 16^2 and 1280,
    // one with 8^2 and 1280; 63 G in all. Norms come on top.
    EXPECT_NEAR(static_cast<double>(costs.flops()) / kTera, 2 * (0.3386 + 0.0630), 0.001);
    for (std::size_t i = 0; i < costs.blocks.size(); ++i) {
        EXPECT_GT(costs.blocks[i].flops, 0U) << table.blocks()[i].name;
        EXPECT_GT(costs.blocks[i].activation_bytes, Bytes{}) << table.blocks()[i].name;
    }
}

TEST(ClipCosts, OfStableDiffusion15AreTwiceItsParametersForEachToken) {
    const ClipConfig config;
    const auto table = table_of(config);
    const auto costs = value_of(sd::clip_costs(config, table, {}));
    // 12 layers of 4 * 768^2 + 2 * 768 * 3072 weights, and attention over 77 tokens
    constexpr double kWeights = 12 * (4 * 768.0 * 768 + 2 * 768.0 * 3072);
    constexpr double kAttention = 12 * 4 * 77.0 * 77 * 768;
    EXPECT_NEAR(static_cast<double>(costs.flops()), 2 * 77 * kWeights + kAttention, 2e7);
    EXPECT_EQ(cost(table, costs, "embeddings.token_embedding").flops, 0U);
    EXPECT_GT(cost(table, costs, "embeddings.token_embedding").activation_bytes, Bytes{});
}

TEST(ClipCosts, CountWindowsUpToOneCall) {
    const ClipConfig config{.num_hidden_layers = 2};
    const auto table = table_of(config);
    const auto of = [&](std::int64_t tokens) {
        return value_of(sd::clip_costs(config, table, {.tokens = tokens})).flops();
    };
    EXPECT_EQ(of(1), of(77));
    EXPECT_EQ(of(78), 2 * of(77));
    EXPECT_EQ(of(77 * 100), 16 * of(77));
}

TEST(VaeCosts, CountTheHalfThatRuns) {
    const VaeConfig config;
    const auto table = table_of(config);
    const auto decode = value_of(sd::vae_decode_costs(config, table, {}));
    const auto encode = value_of(sd::vae_encode_costs(config, table, {}));
    // 1.24 T multiply-adds for 512x512 (ibid.), and 17 G of attention over 64^2 positions
    EXPECT_NEAR(static_cast<double>(decode.flops()) / kTera, 2 * (1.240 + 0.017), 0.01);
    EXPECT_LT(encode.flops(), decode.flops() / 2) << "fewer blocks, and narrower";
    for (std::size_t i = 0; i < table.blocks().size(); ++i) {
        const auto& name = table.blocks()[i].name;
        const bool is_encoder = name.starts_with("encoder.") || name == "quant_conv";
        EXPECT_EQ(decode.blocks[i].flops == 0, is_encoder) << name;
        EXPECT_EQ(encode.blocks[i].flops == 0, !is_encoder) << name;
    }
}

TEST(VaeCosts, ADecoderHoldsMoreThanAnEncoder) {
    const VaeConfig config;
    const auto table = table_of(config);
    const auto decode = value_of(sd::vae_decode_costs(config, table, {}));
    const auto encode = value_of(sd::vae_encode_costs(config, table, {}));
    EXPECT_GE(decode.peak_activation_bytes, encode.peak_activation_bytes);
    // 256 channels of 512x512, normed, and 128 beside them
    constexpr std::uint64_t kMap = 512 * 512 * 4;
    EXPECT_GE(decode.peak_activation_bytes, Bytes{(256 + 256 + 128) * kMap});
    EXPECT_LE(decode.peak_activation_bytes, Bytes{(256 + 256 + 256 + 32) * kMap});
}

TEST(VaeCosts, ABatchHoldsItsPicturesAndComputesOne) {
    const VaeConfig config;
    const auto table = table_of(config);
    const auto one = value_of(sd::vae_decode_costs(config, table, {}));
    const auto three = value_of(sd::vae_decode_costs(config, table, {.batch = 3}));
    constexpr std::uint64_t kPicture = 512 * 512 * 3 * 4;
    constexpr std::uint64_t kLatent = 64 * 64 * 4 * 4;
    EXPECT_EQ(three.flops(), one.flops());
    EXPECT_EQ(three.peak_activation_bytes.count() - one.peak_activation_bytes.count(),
              2 * (kPicture + kLatent));
}

TEST(VaeCosts, EncodingNeedsAnEncoder) {
    const VaeConfig config{.has_encoder = false, .norm_groups = {}};
    const auto table = table_of(config);
    EXPECT_TRUE(sd::vae_decode_costs(config, table, {}).has_value());
    const auto refused = sd::vae_encode_costs(config, table, {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::unsupported);
}

TEST(StepShape, AbsurdSizesAreRefused) {
    const auto config = small_unet();
    const auto table = table_of(config);
    for (const auto& shape :
         {StepShape{.batch = 0}, StepShape{.height = -1}, StepShape{.width = std::int64_t{1} << 17},
          StepShape{.tokens = std::numeric_limits<std::int64_t>::max()}, StepShape{.sides = 3},
          StepShape{.element_bytes = 0}}) {
        const auto costs = sd::unet_costs(config, table, shape);
        ASSERT_FALSE(costs.has_value());
        EXPECT_EQ(costs.error().code, Code::bad_value);
        EXPECT_THAT(costs.error().hint, HasSubstr("give 1 to"));
    }
}

TEST(StepShape, HugeSizesSaturate) {
    const auto config = small_unet();
    const auto table = table_of(config);
    const auto costs = value_of(sd::unet_costs(config, table,
                                               {.batch = std::int64_t{1} << 30,
                                                .height = std::int64_t{1} << 16,
                                                .width = std::int64_t{1} << 16,
                                                .tokens = std::int64_t{1} << 20,
                                                .sides = 2,
                                                .element_bytes = 8}));
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(costs.flops(), kMost);
    EXPECT_EQ(costs.peak_activation_bytes, Bytes{kMost});
    EXPECT_LT(cost(table, costs, "time_embed.0").flops, kMost);
}

TEST(PartCosts, ComeInTheOrderOfTheTable) {
    const auto directory = directory_of(parameters(UNetConfig{}));
    const auto table = value_of(sd::kUNetPart.blocks(directory));
    const auto costs = value_of(sd::kUNetPart.costs(directory, {}));
    EXPECT_EQ(costs, value_of(sd::unet_costs(UNetConfig{}, table, {})));
    auto blocks = plan::plan_blocks(table);
    set_costs(blocks, costs);
    ASSERT_EQ(blocks.size(), costs.blocks.size());
    EXPECT_EQ(blocks[3].flops, costs.blocks[3].flops);
    EXPECT_EQ(blocks[3].activation_bytes, costs.blocks[3].activation_bytes);
    EXPECT_FALSE(sd::kVaePart.costs(directory, {}).has_value());
}

}  // namespace
}  // namespace ballast::models
