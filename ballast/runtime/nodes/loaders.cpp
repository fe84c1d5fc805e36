// Nodes that open model files. What a file is, is read from its header; weights are read when they
// are first used.

#include <fmt/format.h>

#include <array>

#include "ballast/graph/available.hpp"
#include "ballast/graph/distribution_inputs.hpp"
#include "ballast/graph/distribution_nodes.hpp"
#include "ballast/graph/suitable_loader.hpp"
#include "ballast/graph/workflow_models.hpp"
#include "ballast/models/family.hpp"
#include "ballast/runtime/nodes/compute_types.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/values.hpp"

namespace ballast::runtime::nodes {
namespace {

/// A model file named by an input, with its header, and where the user wants its models.
class ModelFile {
public:
    ModelFile(const Context& context, const graph::NodeCall& call, std::string_view folder,
              std::string_view input)
        : context_(&context),
          node_(call.node_id),
          class_(graph::base_class(call.class_type)),
          name_(call.text(input)),
          path_(value_or_throw(context.session.folders().model_path(folder, name_))),
          key_(value_or_throw(residency::model_key(path_, {}))),  // before the header is read
          directory_(std::make_shared<const formats::TensorDirectory>(
              value_or_throw(formats::open_tensors(path_)))),
          wishes_(value_or_throw(graph::distribution_inputs(call))) {
        context.session.log_opened(path_);
        for (const auto& warning : directory_->warnings())
            context.observer.warning(name_ + ": " + warning);
    }

    [[nodiscard]] const formats::TensorDirectory& directory() const { return *directory_; }

    [[nodiscard]] std::shared_ptr<UNetModel> unet() const {
        const auto& options = context_->session.options();
        auto description = described(models::sd::describe_unet(*directory_));
        const auto type = compute_type(options.unet_type, "network", *context_);
        auto wish = wish_of(wishes_.network);
        if (wish.allocation.empty() && !wish.compute) wish.allocation = options.allocation;
        auto network = networks::sd::UNet::build(description.config, description.table);
        return std::make_shared<UNetModel>(
            description.config, std::move(network),
            part(models::sd::kUNetPart, std::move(description.table), type, wish));
    }

    [[nodiscard]] std::shared_ptr<TextModel> text() const {
        auto description = described(models::sd::describe_clip(*directory_));
        const auto type =
            compute_type(context_->session.options().text_encoder_type, "text encoder", *context_);
        const auto wish = wish_of(wishes_.text_encoder);
        auto network = text::ClipTextModel::build(description.config, description.table);
        return std::make_shared<TextModel>(
            description.config, std::move(network),
            part(models::sd::kTextPart, std::move(description.table), type, wish));
    }

    [[nodiscard]] std::shared_ptr<VaeModel> vae() const {
        auto description = described(models::sd::describe_vae(*directory_));
        const auto type =
            compute_type(context_->session.options().vae_type, "autoencoder", *context_);
        const auto wish = wish_of(wishes_.autoencoder);
        auto network = vae::Vae::build(description.config, description.table);
        return std::make_shared<VaeModel>(
            description.config, std::move(network),
            part(models::sd::kVaePart, std::move(description.table), type, wish));
    }

private:
    static graph::PlacementWish wish_of(const graph::PartDistribution& said) {
        return {.compute = said.compute, .allocation = said.allocation};
    }

    /// The description of a part. A file that lacks it because it is of another kind than this node
    /// loads is refused as such, with the node that loads it.
    template <typename T>
    [[nodiscard]] T described(Result<T> description) const {
        if (description || description.error().code != Code::not_found)
            return value_or_throw(std::move(description));
        throw Failure(
            graph::with_suitable_loader(std::move(description).error(), *directory_, class_));
    }

    [[nodiscard]] std::shared_ptr<LoadedPart> part(const models::sd::Part& part,
                                                   plan::BlockTable table, at::ScalarType type,
                                                   const graph::PlacementWish& wish) const {
        auto key = key_;
        key.options = graph::loading_options({.path = path_,
                                              .part = std::string(part.name),
                                              .compute = wish.compute,
                                              .allocation = wish.allocation});
        const auto name = fmt::format("{} ({})", name_, part.name);
        return std::make_shared<LoadedPart>(
            LoadedPart::Description{
                .name = name,
                .node = node_,
                .key = std::move(key),
                .directory = directory_,
                .part = &part,
                .table = std::move(table),
                .compute_type = type,
                .wish = wish,
                .retention = graph::retention_of(wishes_, context_->session.options().retention,
                                                 name, path_),
                .ejects_others = wishes_.eject_models.value_or(false)},
            context_->session.bench());
    }

    const Context* context_;
    std::string node_;
    std::string class_;  ///< the ordinary loader that does the same
    std::string name_;
    std::filesystem::path path_;
    residency::ModelKey key_;
    std::shared_ptr<const formats::TensorDirectory> directory_;
    graph::DistributionInputs wishes_;
};

/// Refuses what this version cannot do, at the input that asks for it.
void require_available(bool is_available, const graph::NodeCall& call, const char* input,
                       const char* what, std::string why, std::string_view hint) {
    if (is_available) return;
    throw Failure(Error{.code = Code::not_available,
                        .what = what,
                        .why = std::move(why),
                        .place = {.node = call.node_id, .key = input},
                        .hint = std::string(hint)});
}

graph::NodeResult checkpoint(const Context& context, const graph::NodeCall& call) {
    const ModelFile file(context, call, "checkpoints", "ckpt_name");
    value_or_throw(models::require_sd1(file.directory()));
    graph::NodeResult result{.outputs = {nullptr, nullptr, nullptr}, .ui = {}};
    if (call.output_is_used[0])
        result.outputs[0] =
            std::make_shared<ModelValue>(Model{file.unet(), sampling::sd1_sampling()});
    if (call.output_is_used[1]) result.outputs[1] = std::make_shared<ClipValue>(Clip{file.text()});
    if (call.output_is_used[2]) result.outputs[2] = std::make_shared<VaeValue>(Vae{file.vae()});
    return result;
}

graph::NodeResult unet(const Context& context, const graph::NodeCall& call) {
    const ModelFile file(context, call, "diffusion_models", "unet_name");
    value_or_throw(models::require_sd1(file.directory()));
    // the loader for low precision has no such input
    const std::string type = call.has("weight_dtype") ? call.text("weight_dtype") : "default";
    require_available(graph::is_available_weight_type(type), call, "weight_dtype",
                      "cannot load the network", "weight_dtype " + type + " is not available yet",
                      graph::kWeightTypeHint);
    return outputs(std::make_shared<ModelValue>(Model{file.unet(), sampling::sd1_sampling()}));
}

graph::NodeResult clip(const Context& context, const graph::NodeCall& call) {
    const ModelFile file(context, call, "text_encoders", "clip_name");
    const auto& type = call.text("type");
    require_available(
        graph::is_available_text_encoder(type), call, "type", "cannot load the text encoder",
        "text encoders of type " + type + " are not available yet", graph::kTextEncoderHint);
    return outputs(std::make_shared<ClipValue>(Clip{file.text()}));
}

graph::NodeResult vae(const Context& context, const graph::NodeCall& call) {
    const auto& name = call.text("vae_name");
    require_available(graph::is_available_autoencoder(name), call, "vae_name",
                      "cannot load the autoencoder", name + " is not available yet",
                      graph::kAutoencoderHint);
    const ModelFile file(context, call, "vae", "vae_name");
    return outputs(std::make_shared<VaeValue>(Vae{file.vae()}));
}

graph::NodeResult device_selector(const Context&, const graph::NodeCall& call) {
    return outputs(std::make_shared<DeviceNameValue>(DeviceName{call.text("device")}));
}

constexpr std::array kNodes{
    ImplementationRow{"CheckpointLoaderSimple", &checkpoint},
    ImplementationRow{"UNETLoader", &unet},
    ImplementationRow{"CLIPLoader", &clip},
    ImplementationRow{"VAELoader", &vae},
    ImplementationRow{"CheckpointLoaderSimpleMultiGPU", &checkpoint},
    ImplementationRow{"CheckpointLoaderSimpleDisTorch2MultiGPU", &checkpoint},
    ImplementationRow{"CheckpointLoaderAdvancedMultiGPU", &checkpoint},
    ImplementationRow{"CheckpointLoaderAdvancedDisTorch2MultiGPU", &checkpoint},
    ImplementationRow{"UNETLoaderMultiGPU", &unet},
    ImplementationRow{"UNETLoaderDisTorch2MultiGPU", &unet},
    ImplementationRow{"UNetLoaderLP", &unet},
    ImplementationRow{"CLIPLoaderMultiGPU", &clip},
    ImplementationRow{"CLIPLoaderDisTorch2MultiGPU", &clip},
    ImplementationRow{"VAELoaderMultiGPU", &vae},
    ImplementationRow{"VAELoaderDisTorch2MultiGPU", &vae},
    ImplementationRow{"DeviceSelectorMultiGPU", &device_selector},
};

}  // namespace

std::span<const ImplementationRow> loader_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
