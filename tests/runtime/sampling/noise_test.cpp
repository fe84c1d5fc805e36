#include "ballast/runtime/sampling/noise.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::code_of;
using ballast::testing::distance;
using ballast::testing::floats_of;
using ballast::testing::golden_json;
using ballast::testing::golden_sampling;
using ballast::testing::GoldenTensors;

constexpr double kTolerance = 2e-6;

std::vector<std::int64_t> shape_of(const nlohmann::json& entry, const char* key = "shape") {
    return entry.at(key).get<std::vector<std::int64_t>>();
}

std::uint64_t seed_of(const nlohmann::json& entry) {
    return std::stoull(entry.at("seed").get<std::string>());
}

void expect_values(const at::Tensor& actual, const std::vector<float>& expected,
                   const std::string& what) {
    EXPECT_LE(distance(actual, ops::from_floats(expected)), kTolerance) << what;
}

TEST(Noise, EqualsTheRecordedNoiseOfEverySeedAndShape) {
    const auto entries = golden_json("noise.json", "/entries");
    EXPECT_EQ(entries.size(), 52U);
    for (const auto& entry : entries) {
        const auto noise = initial_noise(shape_of(entry), seed_of(entry)).flatten();
        const auto head = floats_of(entry.at("head"));
        const auto tail = floats_of(entry.at("tail"));
        expect_values(noise.narrow(0, 0, std::ssize(head)), head, entry.at("seed"));
        expect_values(noise.narrow(0, noise.numel() - std::ssize(tail), std::ssize(tail)), tail,
                      entry.at("seed"));
    }
}

TEST(Noise, GivesAPictureOfABatchTheDrawOfItsIndex) {
    const GoldenTensors golden(golden_sampling("noise.safetensors"));
    for (const auto& entry : golden_json("noise.json", "/batch_index")) {
        const auto index = entry.at("batch_index").get<std::vector<std::int64_t>>();
        auto shape = shape_of(entry, "latent_shape");
        shape[0] = std::ssize(index);
        const std::string name = entry.at("tensor");
        EXPECT_LE(distance(initial_noise(shape, seed_of(entry), index), golden[name]), kTolerance)
            << name;
    }
}

TEST(Noise, IsDrawnInTheTypeAskedFor) {
    const GoldenTensors golden(golden_sampling("noise.safetensors"));
    const std::map<std::string, at::ScalarType> types{
        {"float16", at::kHalf}, {"bfloat16", at::kBFloat16}, {"float64", at::kDouble}};
    for (const auto& entry : golden_json("noise.json", "/other_dtypes")) {
        const auto type = types.at(entry.at("dtype"));
        const auto noise = initial_noise(shape_of(entry), seed_of(entry), {}, type);
        EXPECT_EQ(noise.scalar_type(), type);
        EXPECT_LE(distance(noise, golden[entry.at("tensor").get<std::string>()]), kTolerance);
    }
}

TEST(Noise, DependsOnTheLowBitsOfTheSeedAlone) {
    const auto low = initial_noise({1, 4, 8, 8}, 42);
    EXPECT_EQ(distance(low, initial_noise({1, 4, 8, 8}, (1ULL << 32U) + 42)), 0.0);
    EXPECT_GT(distance(low, initial_noise({1, 4, 8, 8}, 43)), 0.1);
}

TEST(Noise, RefusesIndicesThatMakeNoSense) {
    const auto draw = [](std::vector<std::int64_t> index) {
        return code_of([&] { initial_noise({2, 4, 8, 8}, 0, index); });
    };
    EXPECT_EQ(draw({0}), Code::bad_value);
    EXPECT_EQ(draw({0, -1}), Code::bad_value);
    EXPECT_EQ(draw({0, std::int64_t{1} << 40}), Code::bad_value);
    EXPECT_EQ(draw({1, 1}), std::nullopt);
}

TEST(StepNoise, IsOneStreamFromTheNextSeed) {
    const GoldenTensors golden(golden_sampling("samplers.safetensors"));
    const auto stream = golden["default_noise_stream"];
    StepNoise noise(golden["latent"], 42);
    for (std::int64_t i = 0; i < stream.size(0); ++i)
        EXPECT_LE(distance(noise.draw(), stream[i]), kTolerance) << i;
}

TEST(StepNoise, GoesOnWithinSmallDraws) {
    // below sixteen values the generator keeps the second half of a pair for the next draw
    for (const auto& entry : golden_json("noise.json", "/consecutive_draws")) {
        const auto generator = ops::cpu_generator(seed_of(entry));
        for (const char* draw : {"first", "second"}) {
            const auto expected = floats_of(entry.at(draw));
            expect_values(ops::normal({std::ssize(expected)}, generator), expected, draw);
        }
    }
}

TEST(StepNoise, TakesTheLargestSeedThatThereIs) {
    StepNoise noise(ops::zeros({1, 4, 8, 8}, at::kFloat), ~0ULL);
    EXPECT_EQ(distance(noise.draw(), initial_noise({1, 4, 8, 8}, 0)), 0.0);
}

}  // namespace
}  // namespace ballast::runtime::sampling
