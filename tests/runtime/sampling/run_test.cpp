#include "ballast/runtime/sampling/run.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ballast/runtime/sampling/schedules/step_selection.hpp"
#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/runtime/sampling/tiny_network.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::code_of;
using ballast::testing::distance;
using ballast::testing::error_of;
using ballast::testing::golden_json;
using ballast::testing::golden_sampling;
using ballast::testing::GoldenTensors;
using ballast::testing::magnitude;
using ballast::testing::model_named;
using ballast::testing::text_of;
using ballast::testing::TinyNetwork;

ModelSampling model_of(const std::string& type) {
    if (type == "flow") return *model_named("flow_shift1");
    return *model_named(type == "v" ? "sd15_v" : "sd15_eps");
}

at::Tensor golden_mask() {
    const auto mask = ops::zeros({16, 16}, at::kFloat);
    mask.narrow(0, 4, 8).narrow(1, 6, 10).fill_(1.0);
    return mask;
}

TEST(SamplingRun, EndsWhereTheReferenceEnds) {
    const GoldenTensors tensors(golden_sampling("cond.safetensors"));
    const auto unit = tensors["x_unit"];
    const auto cases = golden_json("cond.json", "/end_to_end");
    for (const auto& golden : cases) {
        const auto model = model_of(golden.at("type"));
        const bool is_blank = golden.at("latent") == "zeros";
        SamplingRequest request{.latent = {},
                                .positive = text_of(golden.at("positive").get<double>()),
                                .negative = text_of(golden.at("negative").get<double>()),
                                .cfg = golden.at("cfg").get<double>(),
                                .sampler = golden.at("sampler").get<std::string>(),
                                .sigmas = {},
                                .noise = initial_noise(unit.sizes(), 99),
                                .seed = 99};
        request.latent.samples =
            is_blank ? ops::zeros(unit.sizes(), at::kFloat) : unit * 0.18215F * 3.0F;
        if (golden.contains("noise_mask")) request.latent.noise_mask = golden_mask();
        request.sigmas = ksampler_schedule(
            model, request.sampler, scheduler_of(golden.at("scheduler").get<std::string>()),
            golden.at("steps").get<int>(), golden.at("denoise").get<double>());
        TinyNetwork network;
        const auto result = run_sampling(request, model, network);
        const std::string name = golden.at("tensor");
        const auto expected = tensors[name];
        EXPECT_LE(distance(result.samples, expected), 2e-5 * magnitude(expected)) << name;
    }
    EXPECT_EQ(cases.size(), 27U);
}

class SamplingRuns : public ::testing::Test {
protected:
    SamplingRuns() {
        request.latent.samples = ops::zeros({1, 4, 16, 16}, at::kFloat);
        request.positive = text_of(0.9);
        request.negative = text_of(0.2);
        request.cfg = 3.0;
        request.sigmas = make_schedule(Scheduler::normal, model, 4);
        request.noise = initial_noise({1, 4, 16, 16}, 5);
        request.seed = 5;
    }

    SamplingResult run(const SamplingHooks& hooks = {}) {
        return run_sampling(request, model, network, hooks);
    }
    std::optional<Code> code() {
        return code_of([this] { run(); });
    }

    ModelSampling model = sd1_sampling();
    TinyNetwork network;
    SamplingRequest request;
};

TEST_F(SamplingRuns, WithoutAScheduleReturnTheLatentUnchanged) {
    request.sigmas = {};
    request.latent.samples = ops::full({1, 4, 16, 16}, 3.0, at::kFloat);
    const auto result = run();
    EXPECT_EQ(distance(result.samples, request.latent.samples), 0.0);
    EXPECT_EQ(distance(result.denoised, request.latent.samples), 0.0);
    EXPECT_TRUE(network.calls.empty());
}

TEST_F(SamplingRuns, AlongOneSigmaOnlyAddNoise) {
    request.sigmas = {2.0F};
    request.latent.samples = ops::full({1, 4, 16, 16}, 3.0, at::kFloat);
    const auto result = run();
    const auto expected = request.noise * (2.0F / 0.18215F) + 3.0F;
    EXPECT_LE(distance(result.samples, expected), 1e-5 * magnitude(expected));
    EXPECT_EQ(distance(result.denoised, result.samples), 0.0);
}

TEST_F(SamplingRuns, ReportEveryStepAndReturnTheLastEstimate) {
    std::vector<int> steps;
    at::Tensor last;
    const auto result = run({.on_step = [&](const Step& step) {
        steps.push_back(step.index);
        EXPECT_EQ(step.total, 4);
        last = step.denoised;
    }});
    EXPECT_EQ(steps, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(distance(result.denoised, kSd1Latent.from_model(last)), 0.0);
}

TEST_F(SamplingRuns, ContinueWhereAnotherLeftItsNoise) {
    const auto whole = run().samples;
    const auto sigmas = request.sigmas;
    request.sigmas = step_range(sigmas, 0, 2, LeftoverNoise::keep);
    request.latent.samples = run().samples;
    request.sigmas = step_range(sigmas, 2, 10000, LeftoverNoise::remove);
    request.noise = ops::zeros({1, 4, 16, 16}, at::kFloat);
    EXPECT_LE(distance(run().samples, whole), 2e-5 * magnitude(whole));
}

TEST_F(SamplingRuns, KeepTheLatentOutsideTheMask) {
    request.latent.samples = ops::full({1, 4, 16, 16}, 3.0, at::kFloat);
    request.latent.noise_mask = golden_mask();
    const auto change = run().samples - request.latent.samples;
    const auto keep = golden_mask().neg().add(1.0);
    EXPECT_LE(magnitude(change * keep), 2e-5);
    EXPECT_GT(magnitude(change), 0.1);
}

TEST_F(SamplingRuns, ResampleAndRepeatMasks) {
    request.latent.samples = ops::full({2, 4, 16, 16}, 3.0, at::kFloat);
    request.noise = initial_noise({2, 4, 16, 16}, 5);
    request.latent.noise_mask = ops::zeros({1, 1, 128, 128}, at::kFloat);
    const auto result = run();
    EXPECT_LE(distance(result.samples, request.latent.samples), 2e-5);
}

TEST_F(SamplingRuns, GiveABlankLatentTheChannelsOfTheModel) {
    request.latent.samples = ops::zeros({1, 16, 16, 16}, at::kFloat);
    EXPECT_EQ(run().samples.size(1), 4);
}

TEST_F(SamplingRuns, RefuseALatentOfAnotherModel) {
    request.latent.samples = ops::full({1, 16, 16, 16}, 1.0, at::kFloat);
    EXPECT_EQ(code(), Code::bad_value);
}

TEST_F(SamplingRuns, RefuseALatentThatIsNone) {
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{
             {1, 4, 0, 16}, {0, 4, 16, 16}, {4, 16, 16}, {1, 4, 1, 16, 16}}) {
        request.latent.samples = ops::zeros(shape, at::kFloat);
        EXPECT_EQ(code(), Code::bad_value);
    }
    request.latent.samples = at::Tensor();
    EXPECT_EQ(code(), Code::bad_value);
}

TEST_F(SamplingRuns, RefuseNoiseOfAnotherShape) {
    request.noise = initial_noise({2, 4, 16, 16}, 5);
    EXPECT_EQ(code(), Code::bad_value);
    request.noise = at::Tensor();
    EXPECT_EQ(code(), Code::bad_value);
}

TEST_F(SamplingRuns, RefuseAnEmptyMask) {
    request.latent.noise_mask = ops::zeros({0, 16, 16}, at::kFloat);
    EXPECT_EQ(code(), Code::bad_value);
    request.latent.noise_mask = ops::zeros({16}, at::kFloat);
    EXPECT_EQ(code(), Code::bad_value);
}

TEST_F(SamplingRuns, RefuseSchedulesThatMakeNoSense) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const auto& sigmas : std::vector<Sigmas>{
             {kNan, 0}, {kInfinity, 1}, {2, -1}, {2, 0, 1}, {0, 1}, {1, 0, 0}, {2, kNan, 0}}) {
        request.sigmas = sigmas;
        EXPECT_EQ(code(), Code::bad_value);
    }
    EXPECT_TRUE(network.calls.empty());
}

TEST_F(SamplingRuns, RefuseAFlowScheduleThatEndsInPureNoise) {
    model = *model_named("flow_shift3");
    request.sigmas = {1.0F};
    EXPECT_EQ(code(), Code::bad_value);
}

TEST_F(SamplingRuns, StopBeforeTheNextNetworkCallWhenAsked) {
    int calls = 0;
    const auto stopping = [&] {
        if (++calls == 3) throw Failure(Error{.code = Code::interrupted, .what = "stopped"});
    };
    EXPECT_EQ(code_of([&] { run({.before = stopping}); }), Code::interrupted);
    EXPECT_EQ(network.calls.size(), 2U);
}

TEST_F(SamplingRuns, ShowEveryOutputOfTheNetwork) {
    std::vector<float> sigmas;
    run({.after = [&](const NetworkInput& input, float sigma, const at::Tensor& output) {
        sigmas.push_back(sigma);
        EXPECT_TRUE(output.sizes().equals(input.x.sizes()));
        EXPECT_EQ(input.x.size(0), 2) << "both sides in one call";
    }});
    EXPECT_EQ(sigmas, Sigmas(request.sigmas.begin(), request.sigmas.end() - 1));
}

TEST_F(SamplingRuns, NameTheSamplersThatThereAre) {
    request.sampler = "dpm_adaptive";
    EXPECT_EQ(code(), Code::not_available);
}

TEST_F(SamplingRuns, RepeatThemselvesBitForBit) {
    request.sampler = "euler_ancestral";
    EXPECT_EQ(distance(run().samples, run().samples), 0.0);
}

}  // namespace
}  // namespace ballast::runtime::sampling
