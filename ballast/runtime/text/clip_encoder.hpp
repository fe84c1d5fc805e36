#pragma once
// The CLIP text network as the encoder of prompts.

#include <vector>

#include "ballast/runtime/text/clip_text_model.hpp"
#include "ballast/runtime/text/encode.hpp"

namespace ballast::runtime::text {

/// Gives the layer asked for behind the final norm, as Stable Diffusion 1.x takes it. Keeps
/// references on both arguments.
class ClipEncoder final : public WindowEncoder {
public:
    /// `layer` counts from the end, -1 is the last.
    ClipEncoder(const ClipTextModel& model, const nn::Forward& forward, int layer = -1)
        : model_(model), forward_(forward), layer_(layer) {}

    at::Tensor embed(const at::Tensor& ids) override { return model_.embed(forward_, ids); }

    EncodedWindows encode(const at::Tensor& tokens,
                          const std::vector<std::int64_t>& end_positions) override {
        auto output = model_.run(forward_, tokens, end_positions, layer_);
        return {std::move(output.normed), std::move(output.pooled)};
    }

private:
    const ClipTextModel& model_;
    const nn::Forward& forward_;
    int layer_;
};

}  // namespace ballast::runtime::text
