#pragma once
// The sizes of latents, as far as a workflow tells them before anything runs.

#include <cstdint>
#include <vector>

#include "ballast/graph/valid_workflow.hpp"

namespace ballast::graph {

/// Pixels along one side of a latent's cell, in every family so far.
inline constexpr std::int64_t kPixelsPerCell = 8;

struct LatentShape {
    std::int64_t width = 64;   ///< in cells
    std::int64_t height = 64;  ///< likewise
    std::int64_t batch = 1;
    /// A picture or a linked number decides, which nobody knows before: part of the sizes is a
    /// guess, 512 x 512 pixels and one picture.
    bool is_assumed = true;

    bool operator==(const LatentShape&) const = default;
};

/// For each node, the latents that it gives, or that it takes where it gives none; assumed where it
/// does neither. What is beyond any picture stays so, without overflow.
std::vector<LatentShape> latent_shapes(const ValidWorkflow& workflow);

}  // namespace ballast::graph
