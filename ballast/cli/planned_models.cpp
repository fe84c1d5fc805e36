#include "ballast/cli/planned_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "ballast/cli/run_options.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/graph/distribution_nodes.hpp"
#include "ballast/graph/required_models.hpp"
#include "ballast/graph/suitable_loader.hpp"
#include "ballast/graph/work_list.hpp"
#include "ballast/models/family.hpp"
#include "ballast/models/sd/parts.hpp"

namespace ballast::cli {
namespace {

using models::sd::Part;

/// Outputs that some input is linked to: a loader reads only those parts of its file.
std::set<std::pair<std::size_t, std::size_t>> used_outputs(const graph::ValidWorkflow& workflow) {
    std::set<std::pair<std::size_t, std::size_t>> used;
    for (const auto& node : workflow.nodes)
        for (const auto& input : node.inputs)
            if (const auto* link = std::get_if<graph::Link>(&input.value))
                used.emplace(link->node, link->output);
    return used;
}

/// Loaders of a text encoder or an autoencoder take any file that has such a part.
bool is_component(const graph::ValidNode& node) {
    const auto type = graph::base_class(node.declaration->class_type);
    return type == "CLIPLoader" || type == "VAELoader";
}

/// Plans models one after another, as if all were held at once; each finds the room that those
/// before it left.
class Planner {
public:
    explicit Planner(const graph::RuntimeOptions& options) : folders_(folders(options)) {
        const auto limit = options.memory.limits.find(kCpu);
        if (limit != options.memory.limits.end()) left_ = limit->second;
    }

    Result<void> add(const graph::RequiredModel& required, const graph::ValidNode& node,
                     const std::vector<const Part*>& parts) {
        const auto path = folders_.model_path(required.folder, required.name);
        if (!path) return fail(path.error());
        const auto directory = formats::open_tensors(*path);
        if (!directory) return fail(directory.error());
        if (!is_component(node))
            if (auto usable = models::require_sd1(*directory); !usable)
                return fail(std::move(usable).error());
        for (const auto* part : parts) {
            // two loaders of one file share its weights
            if (!seen_.emplace(*path, part->name).second) continue;
            auto table = part->blocks(*directory);
            if (!table && table.error().code == Code::not_found)
                return fail(graph::with_suitable_loader(std::move(table).error(), *directory,
                                                        node.declaration->class_type));
            if (!table) return fail(std::move(table).error());
            place(fmt::format("{} ({})", required.name, part->name), node.id, *std::move(table));
        }
        return {};
    }

    [[nodiscard]] const std::vector<PlannedModel>& models() const { return models_; }

private:
    void place(std::string name, std::string node, plan::BlockTable table) {
        auto plan = plan::resident_plan(table, kCpu, left_);
        if (left_) left_ = left_->minus_or_zero(table.bytes());
        models_.push_back({std::move(name), std::move(node), std::move(table), std::move(plan)});
    }

    graph::Folders folders_;
    std::optional<Bytes> left_;  // of the limit on the CPU, if there is one
    std::set<std::pair<std::filesystem::path, std::string_view>> seen_;
    std::vector<PlannedModel> models_;
};

}  // namespace

Result<std::vector<PlannedModel>> plan_models(const graph::ValidWorkflow& workflow,
                                              const graph::RuntimeOptions& options) {
    const auto used = used_outputs(workflow);
    const graph::WorkList needed(workflow, std::vector<bool>(workflow.nodes.size()));
    const std::set<std::size_t> members(needed.members().begin(), needed.members().end());
    Planner planner(options);
    for (const auto& required : graph::required_models(workflow.source, workflow.catalogue)) {
        const auto node = std::ranges::find(workflow.nodes, required.node, &graph::ValidNode::id);
        const auto index = static_cast<std::size_t>(node - workflow.nodes.begin());
        if (node == workflow.nodes.end() || !members.contains(index)) continue;
        std::vector<const Part*> parts;
        for (std::size_t i = 0; i < node->declaration->outputs.size(); ++i)
            if (const auto* part = models::sd::part_of(node->declaration->outputs[i].type);
                part != nullptr && used.contains({index, i}))
                parts.push_back(part);
        if (parts.empty()) continue;
        auto added = planner.add(required, *node, parts);
        if (added) continue;
        auto error = std::move(added).error();
        if (error.place.node.empty()) error.place.node = required.node;
        return fail(std::move(error));
    }
    return planner.models();
}

}  // namespace ballast::cli
