// Faults of ComfyUI-MultiGPU 2.6.3 in loading, by their numbers in our list of them; none of them
// is ours.

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/simulated_cards.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using namespace ballast::literals;
using ballast::testing::content;
using ballast::testing::kCard;
using ballast::testing::kOther;
using ballast::testing::samples_of;
using ballast::testing::tiny_checkpoint;
using ballast::testing::TinyHost;
using ballast::testing::two_cards;
using ballast::testing::write_tiny;
using graph::Json;
using graph::ValuePtr;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TinyHost::Inputs distributed(const std::string& checkpoint, const std::string& device,
                             const std::string& allocation) {
    return {{"ckpt_name", Json(checkpoint)},
            {"compute_device", Json(device)},
            {"virtual_vram_gb", Json(0.0)},
            {"donor_device", Json("cpu")},
            {"expert_mode_allocations", Json(allocation)},
            {"keep_loaded", Json(true)}};
}

/// A checkpoint on a machine with two cards, loaded, and ways to use it.
class DistributionDefects : public ::testing::Test {
protected:
    std::vector<ValuePtr> load(const std::string& device, const std::string& allocation,
                               const std::string& checkpoint = "tiny.safetensors") {
        return host_.run("CheckpointLoaderSimpleDisTorch2MultiGPU",
                         distributed(checkpoint, device, allocation));
    }
    Result<graph::NodeResult> try_sample(const ValuePtr& model) {
        if (!positive_) positive_ = host_.encode(host_.load()[1], "a red circle");
        return host_.try_run(
            "KSampler", TinyHost::ksampler(model, positive_, positive_, host_.empty_latent()), 1);
    }
    at::Tensor sample(const ValuePtr& model) {
        return samples_of(value_or_throw(try_sample(model)).outputs[0]);
    }

    /// What is loaded of that name.
    std::vector<graph::ModelReport> loaded(std::string_view name) {
        auto models = host_.session().report().models;
        std::erase_if(models, [&](const auto& model) { return model.name != name; });
        return models;
    }
    std::vector<std::string> allocations(std::string_view name) {
        std::vector<std::string> found;
        for (const auto& model : loaded(name)) found.push_back(model.allocation);
        return found;
    }
    Bytes weights_on(DeviceId device) {
        return host_.session().report().devices[device].tag(device::Tag::weights).now;
    }

    TinyHost host_{two_cards()};
    ValuePtr positive_;
};

constexpr auto kNetwork = "tiny.safetensors (unet)";

TEST_F(DistributionDefects, D18OneFileThatTwoLoadersWishElsewhereIsTwoModels) {
    const auto first = load("cuda:0", "cuda:1,*");
    const auto second = load("cuda:0", "cpu,*");
    const auto one = sample(first[0]);
    EXPECT_TRUE(one.equal(sample(second[0])));
    EXPECT_TRUE(one.equal(sample(first[0]))) << "the second one took nothing from the first";
    EXPECT_THAT(allocations(kNetwork), UnorderedElementsAre("cuda:1,*#cuda:0", "cpu,*#cuda:0"));
    for (const auto& model : loaded(kNetwork))
        EXPECT_EQ(model.homes.contains(kOther), model.allocation.starts_with("cuda:1"));
    const auto third = load("cuda:0", "cuda:1,*");
    (void)sample(third[0]);
    EXPECT_EQ(loaded(kNetwork).size(), 2U) << "the same file and wish as the first";
}

TEST_F(DistributionDefects, D18CheckpointsOfEqualSizeShareNothing) {
    write_tiny(host_.path() / "twin", tiny_checkpoint());
    host_.add_model("checkpoints", host_.path() / "twin", "twin.safetensors");
    const auto first = load("cuda:0", "cuda:1,*");
    const auto second = load("cuda:0", "cpu,*", "twin.safetensors");
    (void)sample(first[0]);
    (void)sample(second[0]);
    ASSERT_EQ(loaded(kNetwork).size(), 1U);
    ASSERT_EQ(loaded("twin.safetensors (unet)").size(), 1U);
    const auto one = loaded(kNetwork)[0];
    const auto other = loaded("twin.safetensors (unet)")[0];
    EXPECT_EQ(one.bytes, other.bytes);
    EXPECT_TRUE(one.homes.contains(kOther));
    EXPECT_FALSE(other.homes.contains(kOther));
}

TEST_F(DistributionDefects, D18AFailedLoadLeavesNothingBehind) {
    const auto file = host_.path() / "cut";
    write_tiny(file, tiny_checkpoint());
    host_.add_model("checkpoints", file, "cut.safetensors");
    const auto size = std::filesystem::file_size(file);
    auto cut = load("cuda:0", "cuda:1,*", "cut.safetensors");
    std::filesystem::resize_file(file, size / 4);
    EXPECT_FALSE(try_sample(cut[0])) << "its network ends beyond the file";
    auto meaningless = load("cuda:0", "disk,2,5gb");
    const auto refused = try_sample(meaningless[0]);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::usage);
    EXPECT_EQ(weights_on(kOther), Bytes{});
    EXPECT_THAT(allocations("cut.safetensors (unet)"), IsEmpty());
    EXPECT_THAT(allocations(kNetwork), IsEmpty());

    write_tiny(file, tiny_checkpoint());
    (void)sample(load("cuda:0", "cpu,*", "cut.safetensors")[0]);
    EXPECT_THAT(allocations("cut.safetensors (unet)"), ElementsAre("cpu,*#cuda:0"));
    (void)sample(load("cuda:0", "cpu,*")[0]);
    EXPECT_THAT(allocations(kNetwork), ElementsAre("cpu,*#cuda:0"));
    EXPECT_EQ(weights_on(kOther), Bytes{});
}

TEST_F(DistributionDefects, D19AnErrorInOneLoaderDoesNotMoveTheModelsOfTheNext) {
    const auto expect_usual_device = [this](const char* when) {
        const auto ordinary = host_.load();
        (void)sample(ordinary[0]);
        auto models = loaded(kNetwork);
        std::erase_if(models, [](const auto& model) { return model.allocation != "automatic"; });
        ASSERT_FALSE(models.empty());
        for (const auto& model : models) EXPECT_EQ(model.compute, kCard) << when;
    };
    expect_usual_device("before");
    EXPECT_FALSE(host_.try_run("CheckpointLoaderSimpleDisTorch2MultiGPU",
                               distributed("absent.safetensors", "cuda:1", "cpu,*")));
    expect_usual_device("after a file that is not there");
    EXPECT_FALSE(try_sample(load("cuda:1", "cpu,lots")[0]));
    expect_usual_device("after an allocation that means nothing");
    (void)sample(load("cuda:1", "cpu,*")[0]);
    expect_usual_device("after a loader that succeeds");
}

TEST_F(DistributionDefects, D20ACheckpointWithoutAnAutoencoderIsAnErrorNotAnEmptyOne) {
    auto tensors = tiny_checkpoint();
    std::erase_if(tensors,
                  [](const auto& tensor) { return tensor.name.starts_with("first_stage_model."); });
    write_tiny(host_.path() / "partial", tensors);
    host_.add_model("checkpoints", host_.path() / "partial", "partial.safetensors");
    const auto simple = distributed("partial.safetensors", "cuda:0", "cuda:1,*");
    const auto result = host_.try_run("CheckpointLoaderSimpleDisTorch2MultiGPU", simple);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::not_found);
    EXPECT_EQ(result.error().place.node, "1");
    EXPECT_THAT(result.error().hint, HasSubstr("VAELoader"));

    graph::NodeCall call{.node_id = "1",
                         .class_type = "CheckpointLoaderSimpleDisTorch2MultiGPU",
                         .inputs = simple,
                         .output_is_used = {true, false, false}};
    const auto network = value_or_throw(host_.session().run(call, host_.notes)).outputs;
    (void)sample(network[0]);
    const auto models = loaded("partial.safetensors (unet)");
    ASSERT_EQ(models.size(), 1U) << "what it has can be used";
    EXPECT_EQ(models[0].allocation, "cuda:1,*#cuda:0") << "as the loader says";
}

TEST_F(DistributionDefects, D20AFileThatIsNoCheckpointIsAnErrorInEveryForm) {
    write_tiny(host_.path() / "other",
               {ballast::testing::stored_pattern("some.weight", ElementType::f16, {8, 8})});
    host_.add_model("checkpoints", host_.path() / "other", "other.safetensors");
    for (const auto* form :
         {"CheckpointLoaderSimple", "CheckpointLoaderSimpleMultiGPU",
          "CheckpointLoaderSimpleDisTorch2MultiGPU", "CheckpointLoaderAdvancedMultiGPU",
          "CheckpointLoaderAdvancedDisTorch2MultiGPU"}) {
        const auto result =
            host_.try_run(form, distributed("other.safetensors", "cuda:0", "cpu,*"));
        ASSERT_FALSE(result) << form;
        EXPECT_EQ(result.error().code, Code::unsupported) << to_string(result.error());
        EXPECT_THAT(to_string(result.error()), HasSubstr("other.safetensors")) << form;
    }
    EXPECT_EQ(weights_on(kCard), Bytes{});
}

TEST_F(DistributionDefects, D26AllModelsOfACheckpointComputeOnTheChosenDevice) {
    const auto all = load("cuda:1", "cpu,*");
    positive_ = host_.encode(all[1], "a red circle");
    const auto latent = value_or_throw(try_sample(all[0])).outputs[0];
    (void)host_.run("VAEDecode", {{"samples", latent}, {"vae", all[2]}}, 1);
    const auto models = host_.session().report().models;
    ASSERT_EQ(models.size(), 3U);
    for (const auto& model : models) {
        EXPECT_EQ(model.compute, kOther) << model.name;
        EXPECT_EQ(model.homes.contains(kCpu), model.name == kNetwork)
            << "an amount is meant once: " << model.name;
    }
}

TEST(SmallModels, D31AreDistributedAsAskedWithAWarning) {
    const auto lines = std::make_shared<CollectingSink>();
    auto options = two_cards();
    options.log = Log({lines});
    TinyHost host(std::move(options));
    host.add_model("vae", ballast::testing::golden_network("sd15-tiny.safetensors"),
                   "tiny.safetensors");
    const auto vae = host.run("VAELoaderDisTorch2MultiGPU",
                              {{"vae_name", Json("tiny.safetensors")},
                               {"compute_device", Json("cuda:0")},
                               {"virtual_vram_gb", Json(4.0)},
                               {"donor_device", Json("cpu")},
                               {"expert_mode_allocations", Json("")},
                               {"keep_loaded", Json(true)}},
                              1);
    (void)host.run("VAEDecode", {{"samples", host.empty_latent()}, {"vae", vae[0]}}, 1);
    const auto models = host.session().report().models;
    ASSERT_EQ(models.size(), 1U);
    EXPECT_TRUE(models[0].homes.contains(kCpu));
    EXPECT_THAT(lines->lines(LogLevel::warning), Contains(HasSubstr("gains little")));
}

}  // namespace
}  // namespace ballast::runtime::nodes
