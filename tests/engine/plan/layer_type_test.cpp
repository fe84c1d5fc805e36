#include "ballast/engine/plan/layer_type.hpp"

#include <gtest/gtest.h>

#include "ballast/engine/plan/planner.hpp"

namespace ballast::plan {
namespace {

using Shape = std::vector<std::int64_t>;

Block block(const std::string& name, Shape weight, bool has_bias = true) {
    Block made{.name = name};
    made.tensors.push_back({.name = name + ".weight", .shape = std::move(weight)});
    if (has_bias) made.tensors.push_back({.name = name + ".bias", .shape = {4}});
    return made;
}

TEST(LayerType, IsToldByTheShapeOfTheWeight) {
    EXPECT_EQ(layer_type(block("a.proj", {4, 4})), "Linear");
    EXPECT_EQ(layer_type(block("a.conv", {4, 4, 3})), "Conv1d");
    EXPECT_EQ(layer_type(block("a.conv", {4, 4, 3, 3})), "Conv2d");
    EXPECT_EQ(layer_type(block("a.conv", {4, 4, 1, 3, 3})), "Conv3d");
}

TEST(LayerType, TablesOfEmbeddingsAreToldByTheirNames) {
    for (const auto* name :
         {"text_model.embeddings.token_embedding", "text_model.embeddings.position_embedding",
          "transformer.wte", "shared", "block.0.layer.0.SelfAttention.relative_attention_bias"})
        EXPECT_EQ(layer_type(block(name, {100, 4}, false)), "Embedding") << name;
}

TEST(LayerType, LayersThatMakeAnEmbeddingAreNoTables) {
    EXPECT_EQ(layer_type(block("time_embed.0", {4, 4})), "Linear");
    EXPECT_EQ(layer_type(block("context_embedder", {4, 4})), "Linear");
    EXPECT_EQ(layer_type(block("vision.patch_embedding", {4, 3, 14, 14}, false)), "Conv2d");
}

TEST(LayerType, NormsAreOnlyToldApartByTheirNames) {
    EXPECT_EQ(layer_type(block("a.layer_norm1", {4})), "LayerNorm");
    EXPECT_EQ(layer_type(block("h.0.ln_1", {4})), "LayerNorm");
    EXPECT_EQ(layer_type(block("a.GroupNorm", {4})), "GroupNorm");
    EXPECT_EQ(layer_type(block("a.rms_norm", {4}, false)), "RMSNorm");
    EXPECT_EQ(layer_type(block("input_blocks.1.0.in_layers.0", {4})), "Norm");
}

TEST(LayerType, WhatHasNoWeightIsUnknown) {
    Block bare{.name = "a", .tensors = {{.name = "a.bias", .shape = {4}}}};
    EXPECT_EQ(layer_type(bare), "");
    EXPECT_EQ(layer_type(block("a", {})), "");
    EXPECT_EQ(layer_type({.name = std::string(kLooseBlock)}), "Parameters");
}

TEST(LayerType, GoesIntoPlanning) {
    const auto blocks = plan_blocks(BlockTable({block("conv_in", {4, 4, 3, 3})}));
    EXPECT_EQ(blocks.at(0).type, "Conv2d");
}

}  // namespace
}  // namespace ballast::plan
