#include "ballast/graph/suitable_loader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ballast/graph/distribution_nodes.hpp"
#include "ballast/models/family.hpp"

namespace ballast::graph {
namespace {

std::vector<std::string_view> loaders_of(models::Family family) {
    switch (family) {
        case models::Family::sd15: return {"CheckpointLoaderSimple", "UNETLoader"};
        case models::Family::clip: return {"CLIPLoader"};
        case models::Family::vae: return {"VAELoader"};
        default: return {};
    }
}

}  // namespace

Error with_suitable_loader(Error error, const formats::TensorDirectory& directory,
                           std::string_view node_class) {
    node_class = base_class(node_class);
    const auto kind = models::recognise(directory);
    auto loaders = loaders_of(kind.family);
    const bool is_its_own = std::erase(loaders, node_class) > 0;
    if (is_its_own || !loaders.empty()) error.why += fmt::format("; it is {}", kind.text);
    if (is_its_own || loaders.empty()) {
        // without the part although the kind is right, or of no kind at all: no other loader helps,
        // nor does the one in use, which the hint may name
        if (error.hint.empty() || error.hint.find(node_class) != std::string::npos)
            error.hint = "choose another file here";
        return error;
    }
    error.code = Code::unsupported;
    error.hint =
        fmt::format("load it with {}, or choose another file here", fmt::join(loaders, " or "));
    return error;
}

}  // namespace ballast::graph
