// Nodes that open model files. What a file is, is read from its header; weights are read for the
// outputs that the workflow uses.

#include <array>

#include "ballast/graph/available.hpp"
#include "ballast/graph/suitable_loader.hpp"
#include "ballast/models/family.hpp"
#include "ballast/runtime/nodes/compute_types.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/values.hpp"

namespace ballast::runtime::nodes {
namespace {

/// A model file named by an input, with its header.
class ModelFile {
public:
    ModelFile(const Context& context, const graph::NodeCall& call, std::string_view folder,
              std::string_view input)
        : context_(&context),
          node_(call.class_type),
          name_(call.text(input)),
          path_(value_or_throw(context.session.folders().model_path(folder, name_))),
          directory_(value_or_throw(formats::open_tensors(path_))) {
        context.session.log_opened(path_);
        for (const auto& warning : directory_.warnings())
            context.observer.warning(name_ + ": " + warning);
    }

    [[nodiscard]] const formats::TensorDirectory& directory() const { return directory_; }

    [[nodiscard]] std::shared_ptr<UNetModel> unet(graph::ComputeType asked) const {
        auto description = described(models::sd::describe_unet(directory_));
        const auto type = compute_type(asked, "network", *context_);
        return shared<UNetModel>("unet", type, [&] {
            auto network = networks::sd::UNet::build(description.config, description.table);
            return std::make_shared<UNetModel>(description.config, std::move(network),
                                               part("unet", std::move(description.table), type));
        });
    }

    [[nodiscard]] std::shared_ptr<TextModel> text(graph::ComputeType asked) const {
        auto description = described(models::sd::describe_clip(directory_));
        const auto type = compute_type(asked, "text encoder", *context_);
        return shared<TextModel>("text", type, [&] {
            auto network = text::ClipTextModel::build(description.config, description.table);
            return std::make_shared<TextModel>(description.config, std::move(network),
                                               part("text", std::move(description.table), type));
        });
    }

    [[nodiscard]] std::shared_ptr<VaeModel> vae(graph::ComputeType asked) const {
        auto description = described(models::sd::describe_vae(directory_));
        const auto type = compute_type(asked, "autoencoder", *context_);
        return shared<VaeModel>("vae", type, [&] {
            auto network = vae::Vae::build(description.config, description.table);
            return std::make_shared<VaeModel>(description.config, std::move(network),
                                              part("vae", std::move(description.table), type));
        });
    }

private:
    /// The description of a part. A file that lacks it because it is of another kind than this node
    /// loads is refused as such, with the node that loads it.
    template <typename T>
    [[nodiscard]] T described(Result<T> description) const {
        if (description || description.error().code != Code::not_found)
            return value_or_throw(std::move(description));
        throw Failure(
            graph::with_suitable_loader(std::move(description).error(), directory_, node_));
    }

    template <typename T, typename Make>
    [[nodiscard]] std::shared_ptr<T> shared(const char* kind, at::ScalarType type,
                                            Make&& make) const {
        return context_->session.shared<T>(std::string(kind) + " " + c10::toString(type), path_,
                                           std::forward<Make>(make));
    }
    [[nodiscard]] LoadedPart part(const char* kind, plan::BlockTable table,
                                  at::ScalarType type) const {
        return LoadedPart({.name = name_ + " (" + kind + ")",
                           .file = path_,
                           .table = std::move(table),
                           .compute_type = type},
                          context_->session.bench());
    }

    const Context* context_;
    std::string node_;
    std::string name_;
    std::filesystem::path path_;
    formats::TensorDirectory directory_;
};

graph::NodeResult checkpoint(const Context& context, const graph::NodeCall& call) {
    const ModelFile file(context, call, "checkpoints", "ckpt_name");
    value_or_throw(models::require_sd1(file.directory()));
    const auto& options = context.session.options();
    graph::NodeResult result{.outputs = {nullptr, nullptr, nullptr}, .ui = {}};
    std::vector<LoadedPart*> parts;
    if (call.output_is_used[0]) {
        auto unet = file.unet(options.unet_type);
        parts.push_back(&unet->part);
        result.outputs[0] = std::make_shared<ModelValue>(Model{unet, sampling::sd1_sampling()});
    }
    if (call.output_is_used[1]) {
        auto text = file.text(options.text_encoder_type);
        parts.push_back(&text->part);
        result.outputs[1] = std::make_shared<ClipValue>(Clip{std::move(text)});
    }
    if (call.output_is_used[2]) {
        auto vae = file.vae(options.vae_type);
        parts.push_back(&vae->part);
        result.outputs[2] = std::make_shared<VaeValue>(Vae{std::move(vae)});
    }
    load_together(parts, *context.session.bench());
    return result;
}

graph::NodeResult unet(const Context& context, const graph::NodeCall& call) {
    const ModelFile file(context, call, "diffusion_models", "unet_name");
    value_or_throw(models::require_sd1(file.directory()));
    if (const auto& type = call.text("weight_dtype"); !graph::is_available_weight_type(type)) {
        throw Failure(Error{.code = Code::not_available,
                            .what = "cannot load the network",
                            .why = "weight_dtype " + type + " is not available yet",
                            .place = {.node = call.node_id, .key = "weight_dtype"},
                            .hint = std::string(graph::kWeightTypeHint)});
    }
    auto network = file.unet(context.session.options().unet_type);
    load_together({&network->part}, *context.session.bench());
    return outputs(
        std::make_shared<ModelValue>(Model{std::move(network), sampling::sd1_sampling()}));
}

graph::NodeResult clip(const Context& context, const graph::NodeCall& call) {
    const ModelFile file(context, call, "text_encoders", "clip_name");
    if (const auto& type = call.text("type"); !graph::is_available_text_encoder(type)) {
        throw Failure(Error{.code = Code::not_available,
                            .what = "cannot load the text encoder",
                            .why = "text encoders of type " + type + " are not available yet",
                            .place = {.node = call.node_id, .key = "type"},
                            .hint = std::string(graph::kTextEncoderHint)});
    }
    auto text = file.text(context.session.options().text_encoder_type);
    load_together({&text->part}, *context.session.bench());
    return outputs(std::make_shared<ClipValue>(Clip{std::move(text)}));
}

graph::NodeResult vae(const Context& context, const graph::NodeCall& call) {
    const auto& name = call.text("vae_name");
    if (!graph::is_available_autoencoder(name)) {
        throw Failure(Error{.code = Code::not_available,
                            .what = "cannot load the autoencoder",
                            .why = name + " is not available yet",
                            .place = {.node = call.node_id, .key = "vae_name"},
                            .hint = std::string(graph::kAutoencoderHint)});
    }
    const ModelFile file(context, call, "vae", "vae_name");
    auto network = file.vae(context.session.options().vae_type);
    load_together({&network->part}, *context.session.bench());
    return outputs(std::make_shared<VaeValue>(Vae{std::move(network)}));
}

constexpr std::array kNodes{
    ImplementationRow{"CheckpointLoaderSimple", &checkpoint},
    ImplementationRow{"UNETLoader", &unet},
    ImplementationRow{"CLIPLoader", &clip},
    ImplementationRow{"VAELoader", &vae},
};

}  // namespace

std::span<const ImplementationRow> loader_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
