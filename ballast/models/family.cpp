#include "ballast/models/family.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace ballast::models {
namespace {

using formats::TensorEntry;

/// A tensor whose presence gives a kind away. `at` says which part of the name must match.
struct Telltale {
    enum class At { end, middle };
    At at;
    std::string_view text;
    Recognition means;
};

constexpr std::string_view kSd1Text = "a Stable Diffusion 1.x model";

// Order matters: the first row of which any tensor is found decides, so that a checkpoint counts
// as its diffusion network although it carries a text encoder and an autoencoder, too.
constexpr std::array kTelltales{
    Telltale{Telltale::At::end, ".lora_up.weight", {Family::lora, "an adapter (LoRA)"}},
    Telltale{Telltale::At::end, ".lora_A.weight", {Family::lora, "an adapter (LoRA)"}},
    Telltale{Telltale::At::end, ".lora.up.weight", {Family::lora, "an adapter (LoRA)"}},
    Telltale{Telltale::At::end, "_lora.up.weight", {Family::lora, "an adapter (LoRA)"}},
    Telltale{
        Telltale::At::end, ".lora_linear_layer.up.weight", {Family::lora, "an adapter (LoRA)"}},
    Telltale{Telltale::At::end, ".hada_w1_a", {Family::lora, "an adapter (LoHa)"}},
    Telltale{Telltale::At::end, ".lokr_w1", {Family::lora, "an adapter (LoKr)"}},
    Telltale{Telltale::At::end, ".lokr_w1_a", {Family::lora, "an adapter (LoKr)"}},
    Telltale{Telltale::At::end, ".oft_blocks", {Family::lora, "an adapter (OFT)"}},
    Telltale{
        Telltale::At::end, "double_blocks.0.img_attn.qkv.weight", {Family::flux, "a Flux model"}},
    Telltale{Telltale::At::end, "blocks.0.self_attn.norm_k.weight", {Family::wan, "a Wan model"}},
    Telltale{Telltale::At::end,
             "joint_blocks.0.x_block.attn.qkv.weight",
             {Family::unknown, "an SD 3 model"}},
    Telltale{Telltale::At::end, "label_emb.0.0.weight", {Family::sdxl, "an SDXL model"}},
    Telltale{Telltale::At::middle, "time_stack.", {Family::unknown, "a video diffusion model"}},
    Telltale{Telltale::At::end,
             "down_blocks.0.resnets.0.time_emb_proj.weight",
             {Family::unknown, "a diffusion network in diffusers' layout"}},
    Telltale{Telltale::At::end, "input_blocks.0.0.weight", {Family::sd15, kSd1Text}},
    Telltale{Telltale::At::end, "middle_block.0.in_layers.0.weight", {Family::sd15, kSd1Text}},
    Telltale{Telltale::At::end,
             "encoder.block.0.layer.0.SelfAttention.q.weight",
             {Family::t5, "a T5 text encoder"}},
    Telltale{Telltale::At::end,
             "embeddings.token_embedding.weight",
             {Family::clip, "a CLIP text encoder"}},
    Telltale{Telltale::At::end,
             "transformer.resblocks.0.ln_1.weight",
             {Family::clip, "a CLIP text encoder (OpenCLIP layout)"}},
    Telltale{
        Telltale::At::end, "decoder.middle.0.residual.0.gamma", {Family::vae, "a Wan autoencoder"}},
    Telltale{Telltale::At::end, "decoder.conv_in.weight", {Family::vae, "an autoencoder"}},
};

bool matches(const Telltale& telltale, std::string_view name) {
    if (telltale.at == Telltale::At::middle)
        return name.find(telltale.text) != std::string_view::npos;
    if (!name.ends_with(telltale.text)) return false;
    // a whole path component: "xlabel_emb..." is not "label_emb..."
    const auto before = name.size() - telltale.text.size();
    const char first = telltale.text.front();
    return first == '.' || first == '_' || before == 0 || name[before - 1] == '.';
}

/// Stable Diffusion 2 has the tensor names of 1.x; its text width and its matrices where 1.x has
/// 1x1 convolutions give it away.
bool looks_like_sd2(const TensorEntry& entry) {
    if (entry.name.find("cond_stage_model.model.transformer.") != std::string::npos) return true;
    return entry.name.ends_with("attn2.to_k.weight") && entry.shape.size() == 2 &&
           entry.shape[1] == 1024;
}

}  // namespace

std::string_view to_string(Family family) {
    switch (family) {
        case Family::sd15: return "sd15";
        case Family::sdxl: return "sdxl";
        case Family::flux: return "flux";
        case Family::wan: return "wan";
        case Family::clip: return "clip";
        case Family::t5: return "t5";
        case Family::vae: return "vae";
        case Family::lora: return "lora";
        case Family::unknown: break;
    }
    return "unknown";
}

Recognition recognise(const formats::TensorDirectory& directory) {
    std::size_t best = kTelltales.size();
    bool sd2 = false;
    for (const auto& entry : directory.entries()) {
        for (std::size_t i = 0; i < best; ++i)
            if (matches(kTelltales[i], entry.name)) best = i;
        sd2 = sd2 || looks_like_sd2(entry);
    }
    if (best == kTelltales.size()) return {Family::unknown, "a file of no family that we know"};
    const auto found = kTelltales[best].means;
    if (found.family == Family::sd15 && sd2) return {Family::unknown, "an SD 2.x model"};
    return found;
}

Result<void> require_sd1(const formats::TensorDirectory& directory) {
    const auto found = recognise(directory);
    switch (found.family) {
        case Family::sd15:
        case Family::clip:
        case Family::vae: return {};
        default: break;
    }
    Error error;
    error.code = Code::unsupported;
    error.what = "cannot use this model";
    error.why = fmt::format("this is {}; Ballast runs Stable Diffusion 1.x so far", found.text);
    error.place.file = directory.path().string();
    error.hint = "choose a Stable Diffusion 1.x file";
    return fail(std::move(error));
}

}  // namespace ballast::models
