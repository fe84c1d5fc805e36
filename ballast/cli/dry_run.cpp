#include "ballast/cli/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "ballast/cli/run_options.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/plan.hpp"
#include "ballast/graph/required_models.hpp"
#include "ballast/models/sd/parts.hpp"

namespace ballast::cli {
namespace {

using models::sd::Part;

/// One model of a workflow and where its blocks would live.
struct PlannedModel {
    std::string name;  ///< "sd15.safetensors (unet)"
    std::string node;
    plan::BlockTable table;
    plan::Plan plan;
};

/// Outputs that some input is linked to: a loader reads only those parts of its file.
std::set<std::pair<std::size_t, std::size_t>> used_outputs(const graph::ValidWorkflow& workflow) {
    std::set<std::pair<std::size_t, std::size_t>> used;
    for (const auto& node : workflow.nodes)
        for (const auto& input : node.inputs)
            if (const auto* link = std::get_if<graph::Link>(&input.value))
                used.emplace(link->node, link->output);
    return used;
}

/// Plans models one after another, as if all were held at once; each finds the room that those
/// before it left.
class Planner {
public:
    explicit Planner(const graph::RuntimeOptions& options) : folders_(folders(options)) {
        const auto limit = options.memory_limits.find(kCpu);
        if (limit != options.memory_limits.end()) left_ = limit->second;
    }

    Result<void> add(const graph::RequiredModel& required, const graph::ValidNode& node,
                     const std::vector<const Part*>& parts) {
        const auto path = folders_.model_path(required.folder, required.name);
        if (!path) return fail(path.error());
        const auto directory = formats::open_tensors(*path);
        if (!directory) return fail(directory.error());
        for (const auto* part : parts) {
            // two loaders of one file share its weights
            if (!seen_.emplace(*path, part->name).second) continue;
            auto table = part->blocks(*directory);
            if (!table) return fail(table.error());
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

Result<std::vector<PlannedModel>> plan_models(const graph::ValidWorkflow& workflow,
                                              const graph::RuntimeOptions& options) {
    const auto used = used_outputs(workflow);
    Planner planner(options);
    for (const auto& required : graph::required_models(workflow.source, workflow.catalogue)) {
        const auto node = std::ranges::find(workflow.nodes, required.node, &graph::ValidNode::id);
        if (node == workflow.nodes.end()) continue;  // no output needs it
        const auto index = static_cast<std::size_t>(node - workflow.nodes.begin());
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

Json to_json(const PlannedModel& model) {
    Json blocks = Json::array();
    for (std::size_t i = 0; i < model.table.blocks().size(); ++i) {
        const auto& block = model.table.blocks()[i];
        blocks.push_back({{"name", block.name},
                          {"bytes", block.bytes.count()},
                          {"home", to_string(model.plan.homes[i])},
                          {"pinned", block.name == plan::kLooseBlock}});
    }
    Json homes = Json::object();
    for (const auto& [device, bytes] : model.plan.per_device)
        homes[to_string(device)] = bytes.count();
    return {{"name", model.name},
            {"node", model.node},
            {"compute", to_string(model.plan.compute)},
            {"mode", "auto"},
            {"blocks", std::move(blocks)},
            {"homes", homes},
            {"quotas", homes},
            {"ring_bytes", 0},
            {"activation_bytes", nullptr},
            {"bytes_per_step", 0},
            {"expected", nullptr},
            {"fits", model.plan.fits},
            {"shortfall", shortfall_json(model.plan.shortfall)},
            {"warnings", Json::array()},
            {"explanation", Json::array({"all blocks stay on cpu, the only device so far"})},
            {"plan", plan::digest(model.table, model.plan)}};
}

constexpr const char* kWeightsOnly =
    "weights only: what the arithmetic needs beside them is not planned yet";

/// What all models of the workflow need together.
struct Total {
    Bytes bytes;
    std::map<DeviceId, Shortfall> shortfall;

    [[nodiscard]] bool fits() const { return shortfall.empty(); }
};

Total total_of(const std::vector<PlannedModel>& models, const graph::RuntimeOptions& options) {
    Total total;
    for (const auto& model : models) total.bytes += model.table.bytes();
    const auto limit = options.memory_limits.find(kCpu);
    if (limit != options.memory_limits.end() && total.bytes > limit->second)
        total.shortfall[kCpu] = {.needed = total.bytes.count(), .available = limit->second.count()};
    return total;
}

std::string to_text(const std::vector<PlannedModel>& models, const Total& total) {
    std::string text = "the workflow is valid\n";
    for (const auto& model : models)
        text += fmt::format("{}: {} blocks, {} on {}\n", escaped(model.name),
                            model.table.blocks().size(), to_string(model.table.bytes()),
                            to_string(model.plan.compute));
    text += fmt::format("weights: {} (the arithmetic needs more, which is not planned yet)\n",
                        to_string(total.bytes));
    return text;
}

}  // namespace

int dry_run(const graph::ValidWorkflow& workflow, const graph::RuntimeOptions& options,
            Console& console) {
    const auto models = plan_models(workflow, options);
    if (!models) return console.fail(models.error());
    const auto total = total_of(*models, options);

    Json list = Json::array();
    for (const auto& model : *models) list.push_back(to_json(model));
    console.print({{"models", std::move(list)},
                   {"homes", {{to_string(kCpu), total.bytes.count()}}},
                   {"fits", total.fits()},
                   {"shortfall", shortfall_json(total.shortfall)},
                   {"warnings", Json::array({kWeightsOnly})}});
    console.say(to_text(*models, total));
    if (total.fits()) return 0;
    const auto& lack = total.shortfall.at(kCpu);
    const Error refusal{
        .code = Code::does_not_fit,
        .what = "the workflow does not fit",
        .why = fmt::format("its weights need {}, available are {}, missing {}",
                           to_string(Bytes{lack.needed}), to_string(Bytes{lack.available}),
                           to_string(Bytes{lack.missing()})),
        .place = {.key = to_string(kCpu)},
        .hint = "raise --memory-limit, or use smaller models",
        .shortfall = total.shortfall};
    Console::complain(refusal);
    return exit_status(refusal.code);
}

}  // namespace ballast::cli
