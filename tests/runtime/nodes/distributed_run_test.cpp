// Whole pictures with models spread over simulated devices.

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "tests/support/simulated_cards.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using namespace ballast::literals;
using ballast::testing::demo_checkpoint;
using ballast::testing::kCard;
using ballast::testing::kOther;
using ballast::testing::picture_of;
using ballast::testing::samples_of;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using ballast::testing::two_cards;
using graph::Json;
using graph::ValuePtr;
using ::testing::Contains;

/// A latent and its picture, with the network and the text encoder placed as the texts say.
struct Outcome {
    at::Tensor latent;
    at::Tensor picture;
    graph::RuntimeReport report;
};

Outcome draw(TinyHost& host, const std::string& checkpoint, const Json& unet_device,
             const std::string& unet, const Json& clip_device, const std::string& clip,
             const Json& vae_device) {
    const auto loaded = host.run("CheckpointLoaderAdvancedDisTorch2MultiGPU",
                                 {{"ckpt_name", Json(checkpoint)},
                                  {"unet_compute_device", unet_device},
                                  {"unet_virtual_vram_gb", Json(0.0)},
                                  {"unet_donor_device", Json("cpu")},
                                  {"unet_expert_mode_allocations", Json(unet)},
                                  {"clip_compute_device", clip_device},
                                  {"clip_virtual_vram_gb", Json(0.0)},
                                  {"clip_donor_device", Json("cpu")},
                                  {"clip_expert_mode_allocations", Json(clip)},
                                  {"vae_device", vae_device},
                                  {"high_precision_loras", Json(true)},
                                  {"keep_loaded", Json(true)}});
    const auto positive = host.encode(loaded[1], "a red circle");
    const auto negative = host.encode(loaded[1], "blue");
    const auto latent = host.run(
        "KSampler", TinyHost::ksampler(loaded[0], positive, negative, host.empty_latent()), 1)[0];
    const auto picture = host.run("VAEDecode", {{"samples", latent}, {"vae", loaded[2]}}, 1)[0];
    return {samples_of(latent), picture_of(picture), host.session().report()};
}

struct Split {
    const char* unet_device;
    const char* unet;
    const char* clip_device;
    const char* clip;
    const char* vae_device;
};

/// All on one device, splits over two cards, host and disk in all modes, and everything on the host
/// while a card computes.
constexpr std::array kSplits{
    Split{"cuda:0", "", "cuda:0", "", "cuda:0"},
    Split{"cuda:1", "", "cpu", "", "cpu"},
    Split{"cpu", "", "cuda:1", "", "cuda:0"},
    Split{"cuda:0", "cpu,*", "cuda:0", "cpu,*", "cuda:0"},
    Split{"cuda:0", "cuda:1,*", "cpu", "cuda:0,*", "cuda:1"},
    Split{"cuda:1", "cuda:0,*", "cuda:1", "cuda:0,*", "cpu"},
    Split{"cuda:0", "disk,*", "cpu", "disk,*", "cpu"},
    Split{"cpu", "disk,*", "cpu", "cuda:0,*", "cpu"},
    Split{"cuda:0", "cuda:0,1mb;cuda:1,1mb;cpu,*", "cpu", "", "cuda:0"},
    Split{"cuda:0", "cuda:1,1mb;cuda:0,1mb;cpu,*", "cpu", "", "cuda:0"},
    Split{"cuda:0", "cpu,300kb;disk,300kb;cuda:1,*", "cuda:1", "cpu,1mb;cuda:0,*", "cuda:1"},
    Split{"cuda:0", "cuda:0,25%;cpu,75%", "cuda:0", "cuda:0,50%;cpu,*", "cpu"},
    Split{"cuda:0", "cuda:0,8%;cuda:1,8%;cpu,4%", "cpu", "cpu,1%;cuda:0,99%", "cpu"},
    Split{"cuda:1", "cpu,10%;cuda:0,80%;cuda:1,10%", "cuda:1", "cpu,*", "cuda:1"},
    Split{"cuda:0", "cuda:0,50%;cpu,*", "cpu", "cuda:0,30%;cuda:1,*", "cuda:0"},
    Split{"cuda:0", "cuda:0,0.00005;cpu,0.5", "cuda:0", "cuda:0,0.00001;cpu,*", "cuda:0"},
    Split{"cpu", "cuda:0,50%;cuda:1,50%", "cpu", "cuda:0,50%;cuda:1,50%", "cpu"},
    Split{"cpu", "cpu,500kb;cuda:1,*", "cpu", "cpu,500kb;disk,*", "cuda:1"},
    Split{"cuda:1", "disk,1mb;cpu,1mb;cuda:0,*", "cuda:0", "disk,*", "cuda:1"},
    Split{"cuda:0", "cuda:1,0;cpu,2mb;disk,*", "cuda:1", "cuda:1,2mb;cuda:0,*", "cuda:0"},
    Split{"cuda:1", "cuda:1,2mb*", "cpu", "cpu,2mb*", "cuda:0"},
};
static_assert(kSplits.size() >= 20);

void expect_equal_bits_under_every_plan(const std::string& checkpoint,
                                        const std::filesystem::path& file) {
    const auto host_with_file = [&](TinyHost& host) -> TinyHost& {
        if (!file.empty()) host.add_model("checkpoints", file, checkpoint);
        return host;
    };
    TinyHost plain;
    const auto expected = draw(host_with_file(plain), checkpoint, "cpu", "", "cpu", "", "cpu");
    for (const auto& split : kSplits) {
        SCOPED_TRACE(fmt::format("{}#{} {}#{} {}", split.unet, split.unet_device, split.clip,
                                 split.clip_device, split.vae_device));
        TinyHost host(two_cards());
        const auto outcome = draw(host_with_file(host), checkpoint, split.unet_device, split.unet,
                                  split.clip_device, split.clip, split.vae_device);
        EXPECT_TRUE(outcome.latent.equal(expected.latent));
        EXPECT_TRUE(outcome.picture.equal(expected.picture));
        EXPECT_EQ(outcome.report.planned, outcome.report.realised);
        EXPECT_EQ(outcome.report.models.size(), 3U);
        for (const auto& model : outcome.report.models) {
            Bytes sum;
            for (const auto& [device, bytes] : model.homes) sum += bytes;
            EXPECT_EQ(sum, model.bytes) << model.name;
        }
    }
}

TEST(DistributedRun, GivesTheSameBitsUnderEveryPlanInTheLayoutOfStableDiffusion) {
    expect_equal_bits_under_every_plan("tiny.safetensors", {});
}

TEST(DistributedRun, GivesTheSameBitsUnderEveryPlanOfTheDemoModel) {
    expect_equal_bits_under_every_plan("demo.safetensors", demo_checkpoint());
}

TEST(DistributedRun, ChargesACardWhatItWouldHoldAndTheHostNothingOfIt) {
    TinyHost host(two_cards());
    const auto outcome = draw(host, "tiny.safetensors", "cuda:0", "", "cuda:0", "", "cuda:0");
    const auto& devices = outcome.report.devices;
    Bytes weights;
    for (const auto& model : outcome.report.models) {
        EXPECT_EQ(model.compute, kCard);
        weights += model.bytes;
    }
    EXPECT_EQ(devices.at(kCard).tag(device::Tag::weights).now, weights);
    EXPECT_GT(devices.at(kCard).tag(device::Tag::activations).peak, 0_B);
    EXPECT_EQ(devices.at(kCard).tag(device::Tag::activations).now, 0_B);
    EXPECT_EQ(devices.at(kCpu).tag(device::Tag::weights).peak, 0_B);
    EXPECT_GT(devices.at(kCpu).tag(device::Tag::simulation).peak, weights);
    EXPECT_EQ(devices.at(kCpu).tag(device::Tag::widened).peak, 0_B) << "a card needs none";
}

TEST(DistributedRun, OfACardThatIsTooSmallStreamsAndLetsIdleModelsGo) {
    // the reserves of a real card do not leave anything of one this small: limits speak instead
    auto options = two_cards();
    options.memory.limits = {{kCard, 3_MiB}, {kOther, 0_B}};
    TinyHost host(std::move(options));
    host.add_model("checkpoints", demo_checkpoint(), "demo.safetensors");
    const TinyScene scene(host, "demo.safetensors");
    const auto latent = scene.sample();
    (void)scene.decode(latent);
    const auto report = host.session().report();
    EXPECT_LE(report.devices.at(kCard).peak, 3_MiB);
    EXPECT_EQ(report.planned, report.realised);
    EXPECT_GT(report.streaming.transfers, 0U);
    TinyHost plain;
    plain.add_model("checkpoints", demo_checkpoint(), "demo.safetensors");
    const TinyScene same(plain, "demo.safetensors");
    EXPECT_TRUE(samples_of(latent).equal(samples_of(same.sample())));
}

TEST(DistributedRun, IsRefusedBeforeAnythingMovesWhereADeviceHasNoRoom) {
    auto options = two_cards();
    options.memory.limits = {{kOther, 1_MiB}};
    TinyHost host(std::move(options));
    const auto loaded = host.run("CheckpointLoaderSimpleDisTorch2MultiGPU",
                                 {{"ckpt_name", Json("tiny.safetensors")},
                                  {"compute_device", Json("cuda:0")},
                                  {"virtual_vram_gb", Json(0.0)},
                                  {"donor_device", Json("cpu")},
                                  {"expert_mode_allocations", Json("cuda:1,2mb;cpu,*")},
                                  {"keep_loaded", Json(true)}});
    const auto positive = host.encode(loaded[1], "a");
    const auto before = host.session().report();
    const auto result = host.try_run(
        "KSampler", TinyHost::ksampler(loaded[0], positive, positive, host.empty_latent()), 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::does_not_fit);
    EXPECT_TRUE(result.error().shortfall.contains(kOther));
    const auto after = host.session().report();
    EXPECT_EQ(after.models.size(), before.models.size());
    EXPECT_EQ(after.devices.at(kOther).peak, 0_B);
}

TEST(DistributedRun, NamesTheLoaderOfAnAllocationThatMeansNothing) {
    TinyHost host(two_cards());
    const auto loaded = host.run("CheckpointLoaderSimpleDisTorch2MultiGPU",
                                 {{"ckpt_name", Json("tiny.safetensors")},
                                  {"compute_device", Json("cuda:0")},
                                  {"virtual_vram_gb", Json(0.0)},
                                  {"donor_device", Json("cpu")},
                                  {"expert_mode_allocations", Json("cuda:0,2,5gb")},
                                  {"keep_loaded", Json(true)}});
    const auto positive = host.encode(loaded[1], "a");
    const auto result = host.try_run(
        "KSampler", TinyHost::ksampler(loaded[0], positive, positive, host.empty_latent()), 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::usage);
    EXPECT_EQ(result.error().place.column, 8U);
    EXPECT_EQ(result.error().place.node, "1");
}

TEST(DistributedRun, LogsTheTablesOfAnAllocation) {
    const auto lines = std::make_shared<CollectingSink>();
    auto options = two_cards();
    options.log = Log({lines});
    options.allocation = "cuda:0,1mb;cpu,*";
    TinyHost host(std::move(options));
    const TinyScene scene(host);
    (void)scene.sample();
    const auto told = lines->lines(LogLevel::info);
    EXPECT_THAT(told, Contains("[MultiGPU DisTorch V2] Final Allocation String:"));
    EXPECT_THAT(told, Contains("cuda:0,1mb;cpu,*"));
    EXPECT_THAT(told, Contains("    DisTorch2 Model Device Allocations"));
    EXPECT_THAT(told, Contains("DisTorch2 Model Final Device/Layer Assignments"));
    EXPECT_THAT(told, Contains("[MultiGPU DisTorch V2] DisTorch loading completed."));
}

TEST(DistributedRun, CountsStreamedBytesAndTheTimeOfTheSimulatedMachine) {
    TinyHost host(two_cards());
    const auto resident =
        draw(host, "tiny.safetensors", "cuda:0", "", "cuda:0", "", "cuda:0").report.streaming;
    EXPECT_EQ(resident.transfers, 0U) << "loading is not streaming";
    EXPECT_GT(resident.compute_seconds, 0.0);
    TinyHost far(two_cards());
    const auto streamed =
        draw(far, "tiny.safetensors", "cuda:0", "cpu,*", "cuda:0", "", "cuda:0").report.streaming;
    EXPECT_GT(streamed.bytes, 1_MiB);
    EXPECT_DOUBLE_EQ(streamed.compute_seconds, resident.compute_seconds);
    EXPECT_NEAR(streamed.wall_seconds, streamed.compute_seconds + streamed.transfer_seconds, 1e-9)
        << "nothing runs beside the arithmetic yet";
}

}  // namespace
}  // namespace ballast::runtime::nodes
