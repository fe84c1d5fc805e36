#pragma once
// The model's prediction under all conditioning entries of both sides, with as few network calls as
// memory allows.

#include <ATen/core/Tensor.h>

#include <functional>

#include "ballast/runtime/sampling/conditioning/prepared.hpp"
#include "ballast/runtime/sampling/network.hpp"

namespace ballast::runtime::sampling {

/// The clean latent as each side sees it. Positions that no entry covers are 0, and so is a side
/// without entries.
struct SidePredictions {
    at::Tensor positive;
    at::Tensor negative;
};

/// Whether the negative side is evaluated or taken for empty.
enum class NegativeSide { evaluate, skip };

/// Called before every network call; stops the run by throwing.
using BeforeCall = std::function<void()>;
/// Called with every output before it is used.
using AfterCall = std::function<void(const NetworkInput&, float sigma, const at::Tensor& output)>;

struct Predictor {
    DiffusionNetwork* network;
    ModelSampling sampling;
    FitsInMemory fits = {};  ///< may be empty: everything fits
    BeforeCall before = {};  ///< may be empty
    AfterCall after = {};    ///< may be empty

    /// Entries of equal size go into one call, as many as fit, at least one; texts of different
    /// length are repeated to a common one when that is at most four times the shorter.
    [[nodiscard]] SidePredictions predict(const PreparedConditioning& conditioning,
                                          const at::Tensor& x, float sigma,
                                          NegativeSide negative) const;
};

}  // namespace ballast::runtime::sampling
