#include "ballast/runtime/text/clip_text_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::runtime::text {
namespace {

using ballast::testing::Taps;

struct TinyClip : ballast::testing::TinyPart<ClipTextModel, &models::sd::describe_clip> {
    ClipTextModel::Output run(int layer, nn::LayerListener* listener = nullptr) {
        const auto ids = golden["clip.ids"].to(at::kLong);
        std::vector<std::int64_t> ends;
        for (std::int64_t b = 0; b < ids.size(0); ++b) {
            const auto row = ids[b].contiguous();
            const auto* first = row.const_data_ptr<std::int64_t>();
            ends.push_back(std::find(first, first + row.numel(), 49407) - first);
        }
        const nn::Forward forward(part.source, nullptr, listener);
        return network.run(forward, network.embed(forward, ids), ends, layer);
    }
};

TEST(ClipTextModel, MatchesTheReference) {
    TinyClip tiny;
    const auto last = tiny.run(-1);
    tiny.expect(last.normed, "clip.last_normed");
    tiny.expect(last.pooled, "clip.pooled");
    const auto penultimate = tiny.run(-2);
    tiny.expect(penultimate.raw, "clip.penultimate_raw");
    tiny.expect(penultimate.normed, "clip.penultimate_normed");
    tiny.expect(penultimate.pooled, "clip.pooled");
}

TEST(ClipTextModel, MatchesTheReferenceInEveryLayer) {
    TinyClip tiny;
    Taps taps;
    tiny.run(-1, &taps);
    for (int i = 0; i < 3; ++i)
        tiny.expect(taps.outputs.at("encoder.layers." + std::to_string(i)),
                    "clip.hidden." + std::to_string(i));
}

TEST(ClipTextModel, TakesTheLastLayerForNumbersBeyondTheFirst) {
    TinyClip tiny;
    tiny.expect(tiny.run(-24).normed, "clip.last_normed");
    tiny.expect(tiny.run(-3).raw, "clip.hidden.0");
}

}  // namespace
}  // namespace ballast::runtime::text
