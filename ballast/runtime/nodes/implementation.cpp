#include "ballast/runtime/nodes/implementation.hpp"

#include <array>

namespace ballast::runtime::nodes {

std::span<const std::span<const ImplementationRow>> all_implementations() {
    static const std::array<std::span<const ImplementationRow>, 7> tables{
        loader_nodes(), conditioning_nodes(), latent_nodes(),         autoencoding_nodes(),
        image_nodes(),  sampling_nodes(),     custom_sampling_nodes()};
    return tables;
}

Implementation find_implementation(std::string_view class_type) {
    for (const auto& table : all_implementations())
        for (const auto& row : table)
            if (row.class_type == class_type) return row.run;
    return nullptr;
}

}  // namespace ballast::runtime::nodes
