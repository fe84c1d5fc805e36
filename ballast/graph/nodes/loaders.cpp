// Nodes that read model files.

#include <algorithm>
#include <array>

#include "ballast/graph/available.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/nodes/families.hpp"

namespace ballast::graph::nodes {

namespace {

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Files of `vae`; the small video decoders among the preview models; the small picture
/// autoencoders that have both halves; and decoding by doing nothing.
std::vector<std::string> autoencoders(const Folders& folders) {
    static constexpr std::array<std::string_view, 4> kVideo{"taehv", "lighttaew2_2", "lighttaew2_1",
                                                            "lighttaehy1_5"};
    static constexpr std::array<std::string_view, 4> kPairs{"taesd", "taesdxl", "taesd3", "taef1"};
    std::vector<std::string> names = folders.models("vae");
    const auto previews = folders.models("vae_approx");
    for (const auto& name : previews)
        if (starts_with_any(name, kVideo)) names.push_back(name);
    for (const std::string_view pair : kPairs) {
        const auto has = [&](std::string_view half) {
            const std::string prefix = std::string{pair} + std::string{half};
            return std::any_of(previews.begin(), previews.end(),
                               [&](const auto& name) { return name.starts_with(prefix); });
        };
        if (has("_encoder.") && has("_decoder.")) names.emplace_back(pair);
    }
    names.emplace_back("pixel_space");
    return names;
}

InputDeclaration device_choice() {
    auto input = optional(choice("device", {"default", "cpu"}));
    input.prominence = Prominence::advanced;
    return input;
}

}  // namespace

std::vector<NodeDeclaration> loaders() {
    return {
        {.class_type = "CheckpointLoaderSimple",
         .display_name = "Load Checkpoint",
         .category = "loaders",
         .description = "Reads a checkpoint: the diffusion model with its text encoder and "
                        "autoencoder.",
         .inputs = {model_file("ckpt_name", "checkpoints", "Name of the checkpoint file.")},
         .outputs = {{.type = "MODEL", .tooltip = "The network that removes noise from latents."},
                     {.type = "CLIP", .tooltip = "The text encoder, for prompts."},
                     {.type = "VAE", .tooltip = "The autoencoder between pictures and latents."}}},
        {.class_type = "UNETLoader",
         .display_name = "Load Diffusion Model",
         .category = "advanced/loaders",
         .inputs = {model_file("unet_name", "diffusion_models"),
                    available_if(&is_available_weight_type, std::string(kWeightTypeHint),
                                 choice("weight_dtype",
                                        {"default", "fp8_e4m3fn", "fp8_e4m3fn_fast", "fp8_e5m2"}))},
         .outputs = {{.type = "MODEL"}}},
        {.class_type = "CLIPLoader",
         .display_name = "Load CLIP",
         .category = "advanced/loaders",
         .description = "Reads one text encoder. The type says for which family of models it is "
                        "used, where the file alone does not tell.",
         .inputs = {model_file("clip_name", "text_encoders"),
                    available_if(
                        &is_available_text_encoder, std::string(kTextEncoderHint),
                        choice("type", {"stable_diffusion", "stable_cascade", "sd3", "stable_audio",
                                        "mochi", "ltxv", "pixart", "cosmos", "lumina2", "wan",
                                        "hidream", "chroma", "ace", "omnigen2", "qwen_image",
                                        "hunyuan_image", "flux2", "ovis"})),
                    device_choice()},
         .outputs = {{.type = "CLIP"}}},
        {.class_type = "VAELoader",
         .display_name = "Load VAE",
         .category = "loaders",
         .inputs = {available_if(
             &is_available_autoencoder, std::string(kAutoencoderHint),
             {.name = "vae_name", .field = ChoiceField{ModelFiles{"vae", &autoencoders}}})},
         .outputs = {{.type = "VAE"}}},
    };
}

}  // namespace ballast::graph::nodes
