#include "ballast/graph/workflow_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ballast/graph/distribution_inputs.hpp"
#include "ballast/graph/distribution_nodes.hpp"
#include "ballast/graph/model_uses.hpp"
#include "ballast/graph/part_planner.hpp"
#include "ballast/graph/required_models.hpp"
#include "ballast/graph/suitable_loader.hpp"
#include "ballast/models/family.hpp"

namespace ballast::graph {
namespace {

using models::sd::Part;

/// The inputs of a node that nothing is linked to.
NodeCall call_of(const ValidNode& node) {
    NodeCall call{.node_id = node.id,
                  .class_type = node.declaration->class_type,
                  .inputs = {},
                  .defaults = {},
                  .output_is_used = {}};
    for (const auto& input : node.declaration->inputs) {
        auto value = node.constant(input.name);
        if (!value) continue;
        call.inputs.emplace(input.name, *std::move(value));
        if (std::ranges::find(node.inputs, input.name, &ValidInput::name) == node.inputs.end())
            call.defaults.insert(input.name);
    }
    return call;
}

/// Loaders of a text encoder or an autoencoder take any file that has such a part.
bool is_component(const ValidNode& node) {
    const auto type = base_class(node.declaration->class_type);
    return type == "CLIPLoader" || type == "VAELoader";
}

const PartDistribution& distribution_of(const DistributionInputs& inputs, const Part& part) {
    switch (kind_of(part)) {
        case PartKind::text_encoder: return inputs.text_encoder;
        case PartKind::autoencoder: return inputs.autoencoder;
        case PartKind::network: break;
    }
    return inputs.network;
}

/// Finds out which models a workflow uses, from its nodes and from the headers of files.
class ModelFinder {
public:
    ModelFinder(const ValidWorkflow& workflow, const Folders& folders,
                const std::string& allocation)
        : workflow_(workflow), folders_(folders), allocation_(allocation) {
        for (auto& required : required_models(workflow.source, workflow.catalogue))
            files_.emplace(required.node, std::move(required));
    }

    Result<WorkflowModels> find() {
        for (const auto& use : model_uses(workflow_)) {
            const auto& loader = workflow_.nodes[use.loader];
            // what comes from no file is not planned
            if (!files_.contains(loader.id)) continue;
            auto model = model_of(use, loader);
            if (!model) return fail(at_node(std::move(model).error(), loader.id));
            found_.steps.push_back({.node = workflow_.nodes[use.node].id, .model = *model});
            auto& used = found_.models[*model];
            StepDemand demand{.shape = use.shape, .smaller = use.smaller};
            if (std::ranges::find(used.demands, demand) == used.demands.end())
                used.demands.push_back(std::move(demand));
            used.is_shape_assumed = used.is_shape_assumed || use.is_shape_assumed;
        }
        return std::move(found_);
    }

private:
    /// The place of a model, which is opened when it is new.
    Result<std::size_t> model_of(const ModelUse& use, const ValidNode& loader) {
        const auto key = std::pair(use.loader, use.part);
        if (const auto known = by_loader_.find(key); known != by_loader_.end())
            return known->second;
        auto inputs = distribution_inputs(call_of(loader));
        if (!inputs) return fail(std::move(inputs).error());
        auto identity = identity_of(use, loader, *inputs);
        if (!identity) return fail(std::move(identity).error());
        auto index = found_.models.size();
        if (const auto same = by_identity_.find(*identity); same != by_identity_.end()) {
            index = same->second;
            found_.models[index].wishes = *std::move(inputs);  // the last loader's word counts
        } else {
            auto opened = opened_model(*std::move(identity), use, loader);
            if (!opened) return fail(std::move(opened).error());
            opened->wishes = *std::move(inputs);
            by_identity_.emplace(opened->identity, index);
            found_.models.push_back(*std::move(opened));
        }
        by_loader_.emplace(key, index);
        return index;
    }

    Result<ModelIdentity> identity_of(const ModelUse& use, const ValidNode& loader,
                                      const DistributionInputs& inputs) const {
        const auto& file = files_.at(loader.id);
        auto path = folders_.model_path(file.folder, file.name);
        if (!path) return fail(std::move(path).error());
        const auto& asked = distribution_of(inputs, *use.part);
        ModelIdentity identity{.path = *std::move(path),
                               .part = std::string(use.part->name),
                               .compute = asked.compute,
                               .allocation = asked.allocation};
        const bool says_nothing = !asked.compute && asked.allocation.empty();
        if (says_nothing && kind_of(*use.part) == PartKind::network)
            identity.allocation = allocation_;
        return identity;
    }

    Result<WorkflowModel> opened_model(ModelIdentity identity, const ModelUse& use,
                                       const ValidNode& loader) {
        auto directory = directory_of(identity.path);
        if (!directory) return fail(std::move(directory).error());
        if (!is_component(loader))
            if (auto usable = models::require_sd1(**directory); !usable)
                return fail(std::move(usable).error());
        auto table = use.part->blocks(**directory);
        if (!table && table.error().code == Code::not_found)
            return fail(with_suitable_loader(std::move(table).error(), **directory,
                                             loader.declaration->class_type));
        if (!table) return fail(std::move(table).error());
        return WorkflowModel{
            .identity = std::move(identity),
            .part = use.part,
            .directory = *directory,
            .name = fmt::format("{} ({})", files_.at(loader.id).name, use.part->name),
            .loader = loader.id,
            .table = *std::move(table),
            .demands = {}};
    }

    Result<const formats::TensorDirectory*> directory_of(const std::filesystem::path& path) {
        auto found = found_.directories.find(path);
        if (found == found_.directories.end()) {
            auto opened = formats::open_tensors(path);
            if (!opened) return fail(std::move(opened).error());
            found = found_.directories.emplace(path, *std::move(opened)).first;
        }
        return &found->second;
    }

    const ValidWorkflow& workflow_;
    const Folders& folders_;
    const std::string& allocation_;
    std::map<std::string, RequiredModel, std::less<>> files_;  ///< by the id of the loader
    std::map<std::pair<std::size_t, const Part*>, std::size_t> by_loader_;
    std::map<ModelIdentity, std::size_t> by_identity_;
    WorkflowModels found_;
};

}  // namespace

std::string loading_options(const ModelIdentity& identity) {
    return fmt::format("{} on {} by {}", identity.part,
                       identity.compute ? to_string(*identity.compute) : "any",
                       identity.allocation);
}

Result<WorkflowModels> workflow_models(const ValidWorkflow& workflow, const Folders& folders,
                                       const std::string& allocation) {
    return ModelFinder(workflow, folders, allocation).find();
}

}  // namespace ballast::graph
