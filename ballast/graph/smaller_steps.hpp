#pragma once
// What is tried in turn when memory does not suffice for a step as the workflow asks for it. The
// runtime goes this way, and plans of workflows foresee it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/models/step_costs.hpp"

namespace ballast::graph {

/// How the user is told that a network gets the texts of guidance one after the other.
inline constexpr const char* kOneTextAtATime = "with one text at a time";

/// Square tiles of latents, in cells.
struct Tiles {
    std::int64_t side = 0;
    std::int64_t overlap = 0;

    bool operator==(const Tiles&) const = default;
};

/// How much of a picture an autoencoder takes at once.
struct Extent {
    std::string how{};             ///< for the user: "in tiles"
    std::optional<Tiles> tiles{};  ///< empty: the whole picture

    bool operator==(const Extent&) const = default;
};

/// The whole of a picture of `height` times `width` cells, then tiles of 64 cells if they cut it.
/// Those look like the whole; smaller ones show seams.
std::vector<Extent> whole_or_tiles(std::int64_t height, std::int64_t width);

/// `tiles`, then ones with half and a quarter of their side, as long as they make sense and cut the
/// picture.
std::vector<Extent> smaller_and_smaller(Tiles tiles, std::int64_t height, std::int64_t width);

/// The same step, taken with less memory.
struct SmallerStep {
    std::string how{};
    models::StepShape shape{};

    bool operator==(const SmallerStep&) const = default;
};

/// For a network: both halves of guidance in one call, then one after the other.
std::vector<SmallerStep> smaller_network_steps(const models::StepShape& shape);

/// For an autoencoder that takes pictures of `shape` in the first of `extents`: the others.
std::vector<SmallerStep> smaller_autoencoder_steps(const models::StepShape& shape,
                                                   const std::vector<Extent>& extents);

/// `shape`, but at most the largest tile of it. Not for empty shapes.
models::StepShape within(models::StepShape shape, const Extent& extent);

}  // namespace ballast::graph
