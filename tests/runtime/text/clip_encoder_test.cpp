#include "ballast/runtime/text/clip_encoder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/runtime/text/golden_prompts.hpp"
#include "tests/support/golden_tensors.hpp"

namespace ballast::runtime::text {
namespace {

/// The text encoder of the golden checkpoint, all of it in memory.
class GoldenClip {
public:
    GoldenClip() {
        const std::string path = kGoldenNetworks + "sd15-tiny.safetensors";
        const auto clip =
            value_or_throw(models::sd::describe_clip(value_or_throw(formats::open_tensors(path))));
        store_ = value_or_throw(weights::WeightStore::load(
            {.reader = value_or_throw(formats::open_reader(path, formats::ReaderKind::positioned)),
             .table = clip.table,
             .plan = plan::resident_plan(clip.table, kCpu, std::nullopt),
             .ledger = &ledger_}));
        model_.emplace(ClipTextModel::build(clip.config, store_->table()));
        source_.emplace(store_, at::kFloat, widening_);
    }

    EncodedPrompt encode(const std::string& prompt, int layer) {
        const nn::Forward forward(*source_);
        ClipEncoder encoder(*model_, forward, layer);
        return encode_prompt(tokenize_golden(prompt), encoder);
    }

private:
    device::Ledger ledger_;
    WideningBuffer widening_{ledger_};
    std::shared_ptr<const weights::WeightStore> store_;
    std::optional<ClipTextModel> model_;
    std::optional<WeightSource> source_;
};

class GoldenConditioning : public ::testing::Test {
protected:
    GoldenConditioning() {
        std::ifstream file(kGoldenNetworks + "tolerances.json");
        tolerances_ = nlohmann::json::parse(file)["sd15-tiny.io.safetensors"];
    }

    void expect_near(const at::Tensor& ours, const std::string& name) {
        SCOPED_TRACE(name);
        const auto expected = golden_[name];
        ASSERT_EQ(ours.sizes(), expected.sizes());
        const double tolerance = tolerances_[name][2].get<double>();
        const auto values = ours.contiguous();
        const auto* a = values.const_data_ptr<float>();
        const auto* b = expected.const_data_ptr<float>();
        double largest = 0;
        for (std::int64_t i = 0; i < expected.numel(); ++i)
            largest = std::max(largest, std::fabs(double{a[i]} - double{b[i]}));
        EXPECT_LE(largest, tolerance);
    }

    GoldenClip clip_;
    testing::GoldenTensors golden_{kGoldenNetworks + "sd15-tiny.io.safetensors"};
    nlohmann::json tolerances_;
};

TEST_F(GoldenConditioning, EqualsTheReferenceForEveryPrompt) {
    for (const auto& [name, prompt] : golden_prompts()) {
        const auto encoded = clip_.encode(prompt, -1);
        expect_near(encoded.tokens, "text." + name + ".cond");
        expect_near(encoded.pooled, "text." + name + ".pooled");
    }
}

TEST_F(GoldenConditioning, EqualsTheReferenceForAnEarlierLayer) {
    for (const auto& [name, prompt] : golden_prompts())
        expect_near(clip_.encode(prompt, -2).tokens, "text." + name + ".cond_skip2");
}

}  // namespace
}  // namespace ballast::runtime::text
