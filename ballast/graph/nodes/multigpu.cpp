#include "ballast/graph/nodes/multigpu.hpp"

#include <algorithm>

#include "ballast/graph/distribution_nodes.hpp"

namespace ballast::graph::nodes {

namespace {

constexpr double kMostVirtualGib = 128.0;

/// The inputs that say where a model goes.
class Fields {
public:
    explicit Fields(const Devices& devices) : devices_(devices) {}

    [[nodiscard]] InputDeclaration device(std::string name, std::string tooltip) const {
        return device(std::move(name), std::move(tooltip), devices_.preferred());
    }
    [[nodiscard]] InputDeclaration cpu_device(std::string name, std::string tooltip) const {
        return device(std::move(name), std::move(tooltip), to_string(kCpu));
    }
    [[nodiscard]] InputDeclaration compute(std::string name) const {
        return device(std::move(name), kComputeTip);
    }
    [[nodiscard]] InputDeclaration donor(std::string name) const {
        return cpu_device(std::move(name), "Stores the part of the model that leaves the device.");
    }
    [[nodiscard]] static InputDeclaration virtual_vram(std::string name, double default_value) {
        return {.name = std::move(name),
                .field = NumberField{.default_value = default_value,
                                     .min = 0.0,
                                     .max = kMostVirtualGib,
                                     .step = 0.1},
                .tooltip =
                    "GiB of the model to keep off the device that computes; 0 keeps all of "
                    "it there."};
    }
    [[nodiscard]] static InputDeclaration expert(std::string name) {
        return {.name = std::move(name),
                .field = TextField{.default_value = ""},
                .tooltip =
                    "Says for each device how much of the model it stores, in place of the "
                    "two inputs above: cuda:0,2.5gb;cpu,* or cuda:0,25%;cpu,75%."};
    }
    [[nodiscard]] static InputDeclaration toggle(std::string name, std::string tooltip) {
        return {.name = std::move(name),
                .field = ToggleField{.default_value = true, .truth = Truth::literal},
                .tooltip = std::move(tooltip)};
    }

    /// Whether the model survives when memory is freed. Of ComfyUI-MultiGPU 2.6 there is only the
    /// older half, which evicts all other models.
    static void add_retention(std::vector<InputDeclaration>& inputs) {
        inputs.push_back(optional(toggle(
            "keep_loaded", "Keep the model loaded when memory is freed between workflows.")));
        inputs.push_back(legacy(toggle("eject_models", "Evicts all other models first.")));
    }

    static constexpr auto kComputeTip = "The device that computes with the model.";

private:
    [[nodiscard]] InputDeclaration device(std::string name, std::string tooltip,
                                          std::string default_value) const {
        return {.name = std::move(name),
                .field = ChoiceField{.from = PresentDevices{devices_.names()},
                                     .default_value = std::move(default_value)},
                .tooltip = std::move(tooltip)};
    }

    const Devices& devices_;
};

/// The original makes its classes of others while it starts, in the older way.
NodeDeclaration made_from(const NodeDeclaration& base, std::string class_type,
                          std::string category) {
    auto node = base;
    node.class_type = std::move(class_type);
    node.display_name.clear();
    node.category = std::move(category);
    node.module = "custom_nodes.ComfyUI-MultiGPU";
    node.generation = Generation::classic;
    return node;
}

void replace(std::vector<InputDeclaration>& inputs, InputDeclaration input) {
    std::erase_if(inputs, [&](const auto& other) { return other.name == input.name; });
    inputs.push_back(std::move(input));
}

NodeDeclaration with_device(const NodeDeclaration& base, const Fields& fields) {
    auto node = made_from(base, std::string(base.class_type).append(kDeviceForm), "multigpu");
    replace(node.inputs, optional(fields.compute("device")));
    return node;
}

NodeDeclaration with_allocation(const NodeDeclaration& base, const WrappedLoader& loader,
                                const Fields& fields) {
    auto node =
        made_from(base, std::string(base.class_type).append(kDistorch2Form), "multigpu/distorch_2");
    auto& inputs = node.inputs;
    replace(inputs, optional(fields.compute(std::string(loader.compute_input))));
    inputs.push_back(optional(Fields::virtual_vram("virtual_vram_gb", 4.0)));
    inputs.push_back(optional(fields.donor("donor_device")));
    inputs.push_back(optional(Fields::expert("expert_mode_allocations")));
    Fields::add_retention(inputs);
    return node;
}

constexpr auto kNetworkTip = "The device that computes with the network.";
constexpr auto kTextEncoderTip = "The device that computes with the text encoder.";
constexpr auto kAutoencoderTip = "The device that computes with the autoencoder.";

NodeDeclaration advanced_checkpoint(const NodeDeclaration& base, const Fields& fields) {
    auto node = made_from(base, std::string(kAdvancedCheckpoint), "multigpu");
    node.inputs.push_back(fields.device("unet_device", kNetworkTip));
    node.inputs.push_back(fields.device("clip_device", kTextEncoderTip));
    node.inputs.push_back(fields.device("vae_device", kAutoencoderTip));
    return node;
}

NodeDeclaration advanced_checkpoint_distorch2(const NodeDeclaration& base, const Fields& fields) {
    auto node = made_from(base, std::string(kAdvancedCheckpointDistorch2), "multigpu/distorch_2");
    auto& inputs = node.inputs;
    inputs.push_back(fields.device("unet_compute_device", kNetworkTip));
    inputs.push_back(Fields::virtual_vram("unet_virtual_vram_gb", 4.0));
    inputs.push_back(fields.donor("unet_donor_device"));
    inputs.push_back(fields.cpu_device("clip_compute_device", kTextEncoderTip));
    inputs.push_back(Fields::virtual_vram("clip_virtual_vram_gb", 2.0));
    inputs.push_back(fields.donor("clip_donor_device"));
    inputs.push_back(fields.device("vae_device", kAutoencoderTip));
    inputs.push_back(optional(Fields::expert("unet_expert_mode_allocations")));
    inputs.push_back(optional(Fields::expert("clip_expert_mode_allocations")));
    inputs.push_back(optional(Fields::toggle(
        "high_precision_loras",
        "Off: patched layers of models stored in 8 bits are rounded back to 8 bits.")));
    Fields::add_retention(inputs);
    return node;
}

NodeDeclaration low_precision_loader(const NodeDeclaration& base) {
    auto node = made_from(base, std::string(kLowPrecisionLoader), "loaders");
    node.description =
        "Reads a diffusion model; patched layers of one stored in 8 bits are rounded back to 8 "
        "bits.";
    std::erase_if(node.inputs, [](const auto& input) { return input.name != "unet_name"; });
    return node;
}

NodeDeclaration device_selector(const Fields& fields) {
    auto node = made_from({}, std::string(kDeviceSelector), "multigpu");
    node.description = "Names a device for other nodes.";
    node.inputs.push_back(fields.device("device", "A device of this machine."));
    node.outputs.push_back({.type = "MULTIGPUDEVICE", .name = "device"});
    return node;
}

}  // namespace

std::vector<NodeDeclaration> multigpu(const std::vector<NodeDeclaration>& bases,
                                      const Devices& devices) {
    const Fields fields(devices);
    const auto find = [&](std::string_view class_type) -> const NodeDeclaration* {
        const auto found = std::ranges::find(bases, class_type, &NodeDeclaration::class_type);
        return found != bases.end() ? &*found : nullptr;
    };
    std::vector<NodeDeclaration> made;
    for (const auto& loader : kWrappedLoaders) {
        const auto* base = find(loader.base_class);
        if (base == nullptr) continue;
        made.push_back(with_device(*base, fields));
        made.push_back(with_allocation(*base, loader, fields));
    }
    if (const auto* checkpoint = find(base_class(kAdvancedCheckpoint))) {
        made.push_back(advanced_checkpoint(*checkpoint, fields));
        made.push_back(advanced_checkpoint_distorch2(*checkpoint, fields));
    }
    made.push_back(device_selector(fields));
    if (const auto* network = find(base_class(kLowPrecisionLoader)))
        made.push_back(low_precision_loader(*network));
    return made;
}

}  // namespace ballast::graph::nodes
