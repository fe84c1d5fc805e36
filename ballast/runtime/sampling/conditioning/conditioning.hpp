#pragma once
// Conditioning as it travels between nodes: what a picture shall show, where, when and how much.
//
// All functions return a new list and leave the old one alone; tensors are shared, never written.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "ballast/runtime/tensor/accounted.hpp"

namespace ballast::runtime::sampling {

/// A rectangle in latent cells.
struct Area {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t y = 0;
    std::int64_t x = 0;

    bool operator==(const Area&) const = default;
};

/// Which part of the latent the network sees for an entry with a mask.
enum class MaskArea { whole, bounds };

/// One text (or picture) and the place, strength and time at which it holds.
struct ConditioningEntry {
    at::Tensor embedding;  ///< [1 or B, tokens, width]
    at::Tensor pooled;     ///< [1 or B, width]; undefined if there is none

    std::optional<Area> area;  ///< everywhere, if nothing is set
    double strength = 1.0;
    at::Tensor mask;  ///< [N, H, W] of any size; undefined if there is none
    double mask_strength = 1.0;
    MaskArea mask_area = MaskArea::whole;
    std::optional<double> start_percent;  ///< of the way from noise (0) to picture (1)
    std::optional<double> end_percent;
};

/// Accounted: combining a list with itself again and again doubles it each time.
using Conditioning = AccountedVector<ConditioningEntry>;

/// So many entries a list may have; each of them is a pass of the network per step.
inline constexpr std::size_t kMostEntries = 4096;

/// Both lists: their predictions are averaged by weight. Throws `Failure`: `bad_value` when they
/// have more than `kMostEntries` together, `out_of_memory` when the limit refuses (as all below).
Conditioning combine(const Conditioning& first, const Conditioning& second);

/// Every entry of `to` mixed with the first of `from`: share * to + (1 - share) * from. `from` is
/// cut or padded with zeros to the same number of tokens. Throws `Failure` (`bad_value`) when
/// `from` is empty or its embedding has another width.
Conditioning average(const Conditioning& to, const Conditioning& from, double share);

/// The tokens of the first entry of `from` appended to every entry of `to`. Fails as `average`.
Conditioning concat(const Conditioning& to, const Conditioning& from);

/// A rectangle in pixels, which are eight to a latent cell; remainders are dropped.
struct PixelArea {
    std::int64_t width = 64;
    std::int64_t height = 64;
    std::int64_t x = 0;
    std::int64_t y = 0;
};
Conditioning set_area(const Conditioning& list, const PixelArea& area, double strength);

/// `mask` is [H, W] or [N, H, W]; 1 = here. Throws `Failure` (`bad_value`) for other shapes.
Conditioning set_mask(const Conditioning& list, const at::Tensor& mask, double strength,
                      MaskArea mask_area = MaskArea::whole);

/// Zeros in place of embedding and pooled vector.
Conditioning zero_out(const Conditioning& list);

Conditioning set_timestep_range(const Conditioning& list, double start_percent, double end_percent);

}  // namespace ballast::runtime::sampling
