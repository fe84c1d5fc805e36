#include "ballast/models/sd/clip.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "ballast/models/family.hpp"
#include "ballast/models/sd/declared_config.hpp"
#include "ballast/models/sd/parameter_list.hpp"

namespace ballast::models::sd {
namespace {

constexpr std::array<std::string_view, 10> kPrefixes{"cond_stage_model.transformer.text_model.",
                                                     "cond_stage_model.transformer.",
                                                     "text_model.",
                                                     "transformer.text_model.",
                                                     "clip_l.transformer.text_model.",
                                                     "text_encoders.clip_l.transformer.text_model.",
                                                     "text_encoder.text_model.",
                                                     "clip_l.text_model.",
                                                     "te1.text_model.",
                                                     ""};
constexpr std::array<std::string_view, 1> kComplete{"encoder."};
constexpr std::string_view kTokens = "embeddings.token_embedding.weight";
constexpr std::string_view kPositions = "embeddings.position_embedding.weight";

/// Tokens in one window of a prompt, start and end included.
constexpr std::int64_t kWindow = 77;
/// Ids of the vocabulary: one row of the token table for each, if the file does not list others.
constexpr std::int64_t kVocabulary = ClipConfig{}.token_rows;
/// Width of an attention head in every published CLIP text encoder.
constexpr std::int64_t kHeadWidth = 64;

Result<ClipConfig> detect(const Component& text) {
    const auto rows = text.size(kTokens, 2, 0);
    if (!rows) return fail(rows.error());
    const auto width = text.size(kTokens, 2, 1);
    if (!width) return fail(width.error());
    const auto positions = text.size(kPositions, 2, 0);
    if (!positions) return fail(positions.error());
    const auto inner = text.size("encoder.layers.0.mlp.fc1.weight", 2, 0);
    if (!inner) return fail(inner.error());
    if (*positions < kWindow)
        return fail(text.error(Code::unsupported, kPositions,
                               fmt::format("{} positions; prompts are encoded in windows of {}",
                                           *positions, kWindow)));
    ClipConfig config;
    config.hidden_size = *width;
    config.num_hidden_layers = text.count("encoder.layers.", ".layer_norm1.weight");
    config.intermediate_size = *inner;
    config.max_positions = *positions;
    config.token_rows = *rows;
    config.has_token_ids = text.has(kTokenIds);
    if (!config.has_token_ids && *rows < kVocabulary)
        return fail(text.error(
            Code::unsupported, kTokens,
            fmt::format("{} rows, but the vocabulary has {} tokens", *rows, kVocabulary),
            fmt::format("use a file with the whole table, or add {}: which id each row belongs to",
                        kTokenIds)));
    return config;
}

Result<std::int64_t> heads(const Component& text, const ClipConfig& config,
                           std::optional<std::int64_t> declared) {
    const auto width = config.hidden_size;
    if (!declared && width % kHeadWidth != 0)
        return fail(text.error(
            Code::unsupported, kTokens,
            fmt::format("a width of {} does not tell the number of attention heads (it is width / "
                        "{} where the file does not say otherwise)",
                        width, kHeadWidth),
            "declare it in the file's metadata, entry ballast.config: "
            "{\"clip_l\": {\"num_attention_heads\": N}}"));
    const auto count = declared.value_or(width / kHeadWidth);
    if (width % count != 0)
        return fail(text.error(
            Code::unsupported, kTokens,
            fmt::format("a width of {} does not divide into {} attention heads", width, count)));
    return count;
}

std::vector<DeclaredNumbers> numbers(const ClipConfig& config) {
    return {{"clip_l.hidden_size", {config.hidden_size}},
            {"clip_l.num_hidden_layers", {config.num_hidden_layers}},
            {"clip_l.intermediate_size", {config.intermediate_size}}};
}

}  // namespace

std::vector<Parameter> parameters(const ClipConfig& config) {
    // files of this encoder have no matrices in the form of convolutions
    constexpr auto kPlain = Parameter::Kind::floating;
    ParameterList list;
    const auto width = config.hidden_size;
    list.add(std::string(kTokens), {config.token_rows, width});
    list.add(std::string(kPositions), {config.max_positions, width});
    for (int i = 0; i < config.num_hidden_layers; ++i) {
        const auto layer = fmt::format("encoder.layers.{}", i);
        list.norm(layer + ".layer_norm1", width);
        for (const auto* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
            list.linear(fmt::format("{}.self_attn.{}", layer, part), width, width, kPlain);
        list.norm(layer + ".layer_norm2", width);
        list.linear(layer + ".mlp.fc1", width, config.intermediate_size, kPlain);
        list.linear(layer + ".mlp.fc2", config.intermediate_size, width, kPlain);
    }
    list.norm("final_layer_norm", width);
    if (config.has_token_ids)
        list.add(std::string(kTokenIds), {config.token_rows}, Parameter::Kind::integer);
    return list.take();
}

Result<ClipDescription> describe_clip(const formats::TensorDirectory& directory) {
    if (auto ok = require_sd1(directory); !ok) return fail(ok.error());
    const auto prefix = find_prefix(directory, kPrefixes, kTokens);
    const Component text(directory, prefix.value_or(""), "text encoder");
    if (!prefix)
        return fail(text.error(Code::not_found, "", "the file holds no CLIP text encoder",
                               "load the text encoder from a file of its own with CLIPLoader"));
    const auto declared = declared_config(directory);
    if (!declared) return fail(declared.error());
    auto config = detect(text);
    if (!config) return fail(config.error());
    if (auto ok = require_agreement(directory, *declared, numbers(*config)); !ok)
        return fail(ok.error());
    const auto head_count = heads(text, *config, declared->clip_heads);
    if (!head_count) return fail(head_count.error());
    config->num_attention_heads = *head_count;
    auto table = text.blocks(parameters(*config), kComplete);
    if (!table) return fail(table.error());
    return ClipDescription{*config, *std::move(table)};
}

}  // namespace ballast::models::sd
