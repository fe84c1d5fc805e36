#include "tests/runtime/text/golden_prompts.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden_tensors.hpp"

namespace ballast::runtime::text {
namespace {

constexpr std::int64_t kEmbeddingRow = -1;  // in place of an id

TEST(GoldenPrompts, HaveTheReferencesIdsAndWeights) {
    const testing::GoldenTensors golden(kGoldenNetworks + "sd15-tiny.io.safetensors");
    ASSERT_GE(golden_prompts().size(), 9U);
    for (const auto& [name, text] : golden_prompts()) {
        SCOPED_TRACE(name);
        const auto prompt = tokenize_golden(text);
        const auto ids = golden["text." + name + ".ids"];
        const auto weights = golden["text." + name + ".weights"];
        ASSERT_EQ(ids.size(0), static_cast<std::int64_t>(prompt.windows.size()));
        const auto* id = ids.const_data_ptr<std::int64_t>();
        const auto* weight = weights.const_data_ptr<float>();
        for (const auto& window : prompt.windows)
            for (const auto& token : window) {
                ASSERT_EQ(token.embedding ? kEmbeddingRow : token.id, *id++);
                ASSERT_EQ(static_cast<float>(token.weight), *weight++);
            }
    }
}

}  // namespace
}  // namespace ballast::runtime::text
