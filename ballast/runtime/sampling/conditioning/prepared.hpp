#pragma once
// Conditioning made ready for one run: masks became the latent's size, percentages sigmas, and
// every area of one side has its counterpart on the other.

#include <ATen/core/Tensor.h>

#include <limits>
#include <optional>
#include <vector>

#include "ballast/runtime/sampling/conditioning/conditioning.hpp"
#include "ballast/runtime/sampling/model_sampling.hpp"

namespace ballast::runtime::sampling {

/// The two sides of classifier-free guidance.
enum class Side { positive, negative };

struct PreparedEntry {
    at::Tensor context;  ///< [B, tokens, width]
    std::optional<Area> area;
    float strength = 1.0F;
    at::Tensor mask;  ///< [B or 1, 1, h, w]; undefined if there is none
    float mask_strength = 1.0F;
    float first_sigma = std::numeric_limits<float>::infinity();  ///< active from here
    float last_sigma = 0.0F;                                     ///< down to here

    [[nodiscard]] bool is_active(float sigma) const {
        return sigma <= first_sigma && sigma >= last_sigma;
    }
};

struct PreparedConditioning {
    std::vector<PreparedEntry> positive;
    std::optional<std::vector<PreparedEntry>> negative;  ///< nothing: there is no such side
};

/// For latents of `shape` [B, C, h, w]. Throws `Failure` (`bad_value`) for an embedding that is
/// not [.., tokens, width] and for an area that lies outside the latent.
PreparedConditioning prepare(const Conditioning& positive,
                             const std::optional<Conditioning>& negative,
                             const ModelSampling& sampling, at::IntArrayRef shape);

}  // namespace ballast::runtime::sampling
