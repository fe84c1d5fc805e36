#include "ballast/graph/model_uses.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ballast/graph/latent_shape.hpp"
#include "ballast/graph/signature.hpp"
#include "ballast/graph/work_list.hpp"

namespace ballast::graph {
namespace {

using models::sd::kParts;
using models::sd::Part;

/// A guider stands for the network inside it.
constexpr std::string_view kGuider = "GUIDER";

bool is_network(const Part& part) { return part.output_type == models::sd::kUNetPart.output_type; }
bool is_text_encoder(const Part& part) {
    return part.output_type == models::sd::kTextPart.output_type;
}

bool is_of(const Part& part, std::string_view type) {
    return type == part.output_type || (is_network(part) && type == kGuider);
}

bool gives(const ValidNode& node, std::string_view type) {
    return std::ranges::any_of(node.declaration->outputs,
                               [&](const auto& output) { return output.type == type; });
}

/// Whether a node that takes the part computes with it.
bool computes(const ValidNode& node, const Part& part) {
    if (is_text_encoder(part)) return gives(node, "CONDITIONING");
    return gives(node, "LATENT") || (!is_network(part) && gives(node, "IMAGE"));
}

/// Where the node takes the part from, one link for each of its inputs for such.
std::vector<const Link*> links_for(const ValidNode& node, const Part& part) {
    std::vector<const Link*> links;
    for (const auto& input : node.declaration->inputs)
        if (input.is_link_only() && is_of(part, input.type()))
            if (const auto* link = node.link(input.name)) links.push_back(link);
    return links;
}

/// The loaders behind what each node gives of one part.
using Loaders = std::vector<std::vector<std::size_t>>;

Loaders loaders_of(const ValidWorkflow& workflow, const Part& part) {
    Loaders loaders(workflow.nodes.size());
    for (const auto index : sources_first(workflow)) {
        const auto& node = workflow.nodes[index];
        const bool passes_on = std::ranges::any_of(
            node.declaration->outputs, [&](const auto& out) { return is_of(part, out.type); });
        if (!passes_on) continue;
        auto& found = loaders[index];
        for (const auto* link : links_for(node, part))
            for (const auto loader : loaders[link->node])
                if (std::ranges::find(found, loader) == found.end()) found.push_back(loader);
        if (found.empty()) found.push_back(index);
    }
    return loaders;
}

/// Whether the call of a network has both halves of guidance: at a scale of 1 the second has no
/// effect and is left out, and guiders without a scale have none.
std::int64_t sides_of(const ValidWorkflow& workflow, const ValidNode& sampler) {
    const auto* node = &sampler;
    for (;;) {
        if (node->declaration->input("cfg") != nullptr) {
            const auto scale = node->constant("cfg");
            return scale && scale->is_number() && scale->get<double>() == 1.0 ? 1 : 2;
        }
        const Link* guider = nullptr;
        for (const auto& input : node->declaration->inputs)
            if (input.is_link_only() && input.type() == kGuider) guider = node->link(input.name);
        if (guider == nullptr) return 1;
        node = &workflow.nodes[guider->node];
    }
}

/// How much of a picture the node takes at once, largest first.
std::vector<Extent> extents_of(const ValidNode& node, const models::StepShape& shape) {
    const auto tile = node.constant("tile_size");
    if (!tile || !tile->is_number_integer()) return whole_or_tiles(shape.height, shape.width);
    const auto side = std::max<std::int64_t>(tile->get<std::int64_t>() / kPixelsPerCell, 1);
    return smaller_and_smaller({.side = side}, shape.height, shape.width);
}

/// Without the loader. Texts are encoded alike whatever the picture.
ModelUse use_of(const ValidWorkflow& workflow, std::size_t index, const Part& part,
                const LatentShape& latent) {
    const auto& node = workflow.nodes[index];
    ModelUse use{.node = index, .part = &part};
    if (is_text_encoder(part)) return use;
    use.shape.batch = latent.batch;
    use.shape.height = latent.height;
    use.shape.width = latent.width;
    use.is_shape_assumed = latent.is_assumed;
    if (is_network(part)) {
        use.shape.sides = sides_of(workflow, node);
        use.smaller = smaller_network_steps(use.shape);
        return use;
    }
    const auto extents = extents_of(node, use.shape);
    use.smaller = smaller_autoencoder_steps(use.shape, extents);
    use.shape = within(use.shape, extents.front());
    return use;
}

}  // namespace

std::vector<ModelUse> model_uses(const ValidWorkflow& workflow) {
    std::array<Loaders, kParts.size()> loaders;
    for (std::size_t i = 0; i < kParts.size(); ++i) loaders[i] = loaders_of(workflow, kParts[i]);
    const auto latents = latent_shapes(workflow);
    std::vector<ModelUse> uses;
    WorkList list(workflow, std::vector<bool>(workflow.nodes.size()));
    while (const auto index = list.next()) {
        list.finished(*index);
        const auto& node = workflow.nodes[*index];
        for (std::size_t i = 0; i < kParts.size(); ++i) {
            const auto& part = kParts[i];
            if (!computes(node, part)) continue;
            for (const auto* link : links_for(node, part)) {
                auto use = use_of(workflow, *index, part, latents[*index]);
                for (const auto loader : loaders[i][link->node]) {
                    use.loader = loader;
                    uses.push_back(use);
                }
            }
        }
    }
    return uses;
}

}  // namespace ballast::graph
