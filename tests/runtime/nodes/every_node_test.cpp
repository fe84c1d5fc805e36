// Each class of the catalogue once, with sensible inputs: it gives what it declares.

#include <gtest/gtest.h>

#include <functional>

#include "ballast/graph/node_catalogue.hpp"
#include "ballast/runtime/image/png_encoder.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::NodeHost;
using ballast::testing::part_of;
using ballast::testing::tiny_checkpoint;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using ballast::testing::write_tiny;
using graph::Json;
using graph::ValuePtr;

template <typename V>
bool is_a(const graph::Value& value) {
    return dynamic_cast<const V*>(&value) != nullptr;
}

bool is_of_type(const graph::Value& value, const std::string& type) {
    static const std::map<std::string, bool (*)(const graph::Value&)> kTypes{
        {"MODEL", &is_a<ModelValue>},     {"CLIP", &is_a<ClipValue>},
        {"VAE", &is_a<VaeValue>},         {"CONDITIONING", &is_a<ConditioningValue>},
        {"LATENT", &is_a<LatentValue>},   {"IMAGE", &is_a<ImageValue>},
        {"MASK", &is_a<MaskValue>},       {"SIGMAS", &is_a<SigmasValue>},
        {"SAMPLER", &is_a<SamplerValue>}, {"NOISE", &is_a<NoiseValue>},
        {"GUIDER", &is_a<GuiderValue>},
    };
    return kTypes.at(type)(value);
}

/// One value of each type, and constants under the names that declarations use for them.
class Bench {
public:
    Bench() : scene_(with_files(host_)) {
        links_ = {
            {"MODEL", scene_.model},
            {"CLIP", scene_.clip},
            {"VAE", scene_.vae},
            {"CONDITIONING", scene_.positive},
            {"LATENT", scene_.latent},
            {"IMAGE", std::make_shared<ImageValue>(ops::full({1, 64, 64, 3}, 0.5, at::kFloat))},
            {"MASK", std::make_shared<MaskValue>(ops::full({1, 64, 64}, 1.0, at::kFloat))},
            {"SIGMAS", std::make_shared<SigmasValue>(sampling::Sigmas{10.0F, 1.0F, 0.0F})},
            {"SAMPLER", std::make_shared<SamplerValue>(SamplerName{"euler"})},
            {"NOISE", std::make_shared<NoiseValue>(Noise{.seed = 1})}};
        links_["GUIDER"] = host_.run(
            "BasicGuider", {{"model", scene_.model}, {"conditioning", scene_.positive}}, 1)[0];
        constants_ = {{"ckpt_name", "tiny.safetensors"},
                      {"unet_name", "unet.safetensors"},
                      {"clip_name", "clip.safetensors"},
                      {"vae_name", "vae.safetensors"},
                      {"weight_dtype", "default"},
                      {"type", "stable_diffusion"},
                      {"image", "photo.png"},
                      {"text", "a cat"},
                      {"steps", 2},
                      {"width", 64},
                      {"height", 64},
                      {"step", 1}};
    }

    Result<graph::NodeResult> run(const graph::NodeDeclaration& node) {
        NodeHost::Inputs inputs;
        for (const auto& input : node.inputs) {
            if (input.is_hidden() || input.presence == graph::Presence::legacy) continue;
            if (input.is_link_only())
                inputs.emplace(input.name, links_.at(input.type()));
            else if (const auto own = constants_.find(input.name); own != constants_.end())
                inputs.emplace(input.name, own->second);
            else
                inputs.emplace(input.name, graph::default_value(input).value());
        }
        return host_.try_run(node.class_type, std::move(inputs), node.outputs.size());
    }

private:
    static TinyHost& with_files(TinyHost& host) {
        const auto tensors = tiny_checkpoint();
        write_tiny(host.path() / "unet", part_of(tensors, "model.diffusion_model.", ""));
        write_tiny(host.path() / "clip", part_of(tensors, "cond_stage_model.transformer.", ""));
        write_tiny(host.path() / "vae", part_of(tensors, "first_stage_model.", ""));
        host.add_model("diffusion_models", host.path() / "unet", "unet.safetensors");
        host.add_model("text_encoders", host.path() / "clip", "clip.safetensors");
        host.add_model("vae", host.path() / "vae", "vae.safetensors");
        const auto png = image::encode_png({.width = 8,
                                            .height = 8,
                                            .channels = 3,
                                            .bytes = AccountedVector<std::uint8_t>(192, 90)},
                                           1, {});
        std::ofstream(host.path() / "input" / "photo.png", std::ios::binary) << png;
        return host;
    }
    TinyHost host_;
    TinyScene scene_;
    std::map<std::string, ValuePtr> links_;
    std::map<std::string, Json> constants_;
};

TEST(EveryNode, GivesTheOutputsThatItDeclares) {
    Bench bench;
    const auto catalogue = graph::standard_catalogue();
    for (const auto& node : catalogue.all()) {
        SCOPED_TRACE(node.class_type);
        const auto result = bench.run(node);
        ASSERT_TRUE(result) << to_string(result.error());
        ASSERT_EQ(result->outputs.size(), node.outputs.size());
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            ASSERT_NE(result->outputs[i], nullptr) << i;
            EXPECT_TRUE(is_of_type(*result->outputs[i], node.outputs[i].type)) << i;
        }
        EXPECT_EQ(result->ui.is_null(), node.role != graph::Role::output);
    }
}

}  // namespace
}  // namespace ballast::runtime::nodes
