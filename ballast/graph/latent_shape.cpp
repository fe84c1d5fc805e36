#include "ballast/graph/latent_shape.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "ballast/graph/signature.hpp"

namespace ballast::graph {
namespace {

/// More than any model takes, and far from the end of the type.
constexpr std::int64_t kBeyondAnyPicture = std::int64_t{1} << 20U;
/// The least side, in pixels, of a latent that follows the other side.
constexpr std::int64_t kLeastSide = 64;

std::int64_t in_reach(double size) {
    return static_cast<std::int64_t>(std::clamp(size, 1.0, static_cast<double>(kBeyondAnyPicture)));
}

std::optional<std::int64_t> integer(const ValidNode& node, std::string_view input) {
    const auto value = node.constant(input);
    if (!value || !value->is_number_integer()) return std::nullopt;
    return value->get<std::int64_t>();
}

LatentShape empty(const ValidNode& node) {
    const auto width = integer(node, "width");
    const auto height = integer(node, "height");
    const auto batch = integer(node, "batch_size");
    if (!width || !height || !batch) return {};
    return {.width = *width / kPixelsPerCell,
            .height = *height / kPixelsPerCell,
            .batch = *batch,
            .is_assumed = false};
}

/// To sides in pixels; one of 0 follows the other, and two change nothing.
LatentShape resized(const ValidNode& node, LatentShape shape) {
    auto width = integer(node, "width");
    auto height = integer(node, "height");
    if (!width || !height) return {.batch = shape.batch};
    if (*width == 0 && *height == 0) return shape;
    const auto following = [](std::int64_t side, std::int64_t of, std::int64_t per) {
        return std::max(kLeastSide,
                        in_reach(std::round(static_cast<double>(side) * static_cast<double>(of) /
                                            static_cast<double>(per))));
    };
    if (*width != 0) width = std::max(*width, kLeastSide);
    if (*height != 0) height = std::max(*height, kLeastSide);
    if (*width == 0) width = following(*height, shape.width, shape.height);
    if (*height == 0) height = following(*width, shape.height, shape.width);
    shape.width = *width / kPixelsPerCell;
    shape.height = *height / kPixelsPerCell;
    return shape;
}

LatentShape scaled(const ValidNode& node, LatentShape shape) {
    const auto factor = node.constant("scale_by");
    if (!factor || !factor->is_number()) return {.batch = shape.batch};
    const auto by = factor->get<double>();
    shape.width = in_reach(std::nearbyint(static_cast<double>(shape.width) * by));
    shape.height = in_reach(std::nearbyint(static_cast<double>(shape.height) * by));
    return shape;
}

/// The source of the first input that takes latents; null where none does.
const Link* latents_of(const ValidNode& node) {
    for (const auto& input : node.declaration->inputs)
        if (input.is_link_only() && input.type() == "LATENT")
            if (const auto* link = node.link(input.name)) return link;
    return nullptr;
}

}  // namespace

std::vector<LatentShape> latent_shapes(const ValidWorkflow& workflow) {
    std::vector<LatentShape> shapes(workflow.nodes.size());
    for (const auto index : sources_first(workflow)) {
        const auto& node = workflow.nodes[index];
        const auto& type = node.declaration->class_type;
        if (type == "EmptyLatentImage") {
            shapes[index] = empty(node);
            continue;
        }
        const auto* source = latents_of(node);
        if (source == nullptr) continue;
        shapes[index] = shapes[source->node];
        if (type == "LatentUpscale") shapes[index] = resized(node, shapes[index]);
        if (type == "LatentUpscaleBy") shapes[index] = scaled(node, shapes[index]);
    }
    return shapes;
}

}  // namespace ballast::graph
