#include "ballast/runtime/text/clip_encoder.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/text/golden_prompts.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::runtime::text {
namespace {

struct TinyClip : ballast::testing::TinyPart<ClipTextModel, &models::sd::describe_clip> {
    EncodedPrompt encode(const std::string& prompt, int layer) {
        const nn::Forward forward(part.source);
        ClipEncoder encoder(network, forward, layer);
        return encode_prompt(tokenize_golden(prompt), encoder);
    }
};

TEST(GoldenConditioning, EqualsTheReferenceForEveryPrompt) {
    TinyClip clip;
    for (const auto& [name, prompt] : golden_prompts()) {
        const auto encoded = clip.encode(prompt, -1);
        clip.expect(encoded.tokens, "text." + name + ".cond");
        clip.expect(encoded.pooled, "text." + name + ".pooled");
    }
}

TEST(GoldenConditioning, EqualsTheReferenceForAnEarlierLayer) {
    TinyClip clip;
    for (const auto& [name, prompt] : golden_prompts())
        clip.expect(clip.encode(prompt, -2).tokens, "text." + name + ".cond_skip2");
}

}  // namespace
}  // namespace ballast::runtime::text
