#include "ballast/graph/distribution_nodes.hpp"

namespace ballast::graph {

std::optional<WrappedClass> wrapped_class(std::string_view class_type) {
    for (const auto& loader : kWrappedLoaders) {
        if (!class_type.starts_with(loader.base_class)) continue;
        const auto form = class_type.substr(loader.base_class.size());
        if (form == kDeviceForm) return WrappedClass{&loader, false};
        if (form == kDistorch2Form) return WrappedClass{&loader, true};
    }
    return std::nullopt;
}

std::string_view base_class(std::string_view class_type) {
    if (const auto wrapped = wrapped_class(class_type)) return wrapped->loader->base_class;
    if (class_type == kAdvancedCheckpoint || class_type == kAdvancedCheckpointDistorch2)
        return "CheckpointLoaderSimple";
    if (class_type == kLowPrecisionLoader) return "UNETLoader";
    return class_type;
}

std::vector<std::string> distribution_classes() {
    std::vector<std::string> names;
    for (const auto& loader : kWrappedLoaders)
        for (const auto form : {kDeviceForm, kDistorch2Form})
            names.push_back(std::string(loader.base_class).append(form));
    for (const auto name :
         {kAdvancedCheckpoint, kAdvancedCheckpointDistorch2, kDeviceSelector, kLowPrecisionLoader})
        names.emplace_back(name);
    return names;
}

}  // namespace ballast::graph
