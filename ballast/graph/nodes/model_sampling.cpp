// Nodes that change how a model's output and timesteps are understood.

#include "ballast/graph/nodes/families.hpp"

namespace ballast::graph::nodes {

std::vector<NodeDeclaration> model_sampling() {
    return {
        {.class_type = "ModelSamplingDiscrete",
         .display_name = "ModelSamplingDiscrete",
         .category = "advanced/model",
         .module = "comfy_extras.nodes_model_advanced",
         .inputs = {link("model", "MODEL"),
                    choice("sampling", {"eps", "v_prediction", "lcm", "x0", "img_to_img"}),
                    {.name = "zsnr", .field = ToggleField{false}}},
         .outputs = {{.type = "MODEL"}}},
    };
}

}  // namespace ballast::graph::nodes
