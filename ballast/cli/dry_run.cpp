#include "ballast/cli/dry_run.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>

#include "ballast/engine/plan/plan.hpp"
#include "ballast/models/family.hpp"
#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"

namespace ballast::cli {
namespace {

struct PlannedModel {
    std::string name;
    plan::BlockTable table;
    plan::Plan plan;
};

/// Which component each output of a loader stands for.
enum class Component { network, text_encoder, autoencoder };

struct Loader {
    std::string_view class_type;
    std::string_view input;
    std::string_view folder;
    std::vector<Component> outputs;
};

const std::vector<Loader>& loaders() {
    static const std::vector<Loader> rows{
        {"CheckpointLoaderSimple",
         "ckpt_name",
         "checkpoints",
         {Component::network, Component::text_encoder, Component::autoencoder}},
        {"UNETLoader", "unet_name", "diffusion_models", {Component::network}},
        {"CLIPLoader", "clip_name", "text_encoders", {Component::text_encoder}},
        {"VAELoader", "vae_name", "vae", {Component::autoencoder}},
    };
    return rows;
}

std::string_view name_of(Component component) {
    switch (component) {
        case Component::network: return "unet";
        case Component::text_encoder: return "text";
        case Component::autoencoder: return "vae";
    }
    return "unet";
}

Result<plan::BlockTable> table_of(const formats::TensorDirectory& directory, Component component) {
    const auto table = [](auto description) { return std::move(description.table); };
    switch (component) {
        case Component::network: return models::sd::describe_unet(directory).map(table);
        case Component::text_encoder: return models::sd::describe_clip(directory).map(table);
        case Component::autoencoder: return models::sd::describe_vae(directory).map(table);
    }
    return plan::BlockTable{};
}

/// Outputs of each node that an output node's inputs lead to.
std::vector<std::set<std::size_t>> used_outputs(const graph::ValidWorkflow& workflow) {
    std::vector<std::set<std::size_t>> used(workflow.nodes.size());
    std::vector<bool> is_seen(workflow.nodes.size());
    std::vector<std::size_t> open = workflow.outputs;
    while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        if (is_seen[at]) continue;
        is_seen[at] = true;
        for (const auto& input : workflow.nodes[at].inputs) {
            const auto* link = std::get_if<graph::Link>(&input.value);
            if (link == nullptr) continue;
            used[link->node].insert(link->output);
            open.push_back(link->node);
        }
    }
    return used;
}

Result<std::vector<PlannedModel>> plan_models(const graph::ValidWorkflow& workflow,
                                              const graph::Folders& folders) {
    const auto used = used_outputs(workflow);
    std::vector<PlannedModel> models;
    std::set<std::string> known;  // two loaders of one file share its weights
    for (std::size_t i = 0; i < workflow.nodes.size(); ++i) {
        const auto& node = workflow.nodes[i];
        for (const auto& loader : loaders()) {
            if (loader.class_type != node.declaration->class_type || used[i].empty()) continue;
            std::string name;
            for (const auto& input : node.inputs)
                if (input.name == loader.input)
                    if (const auto* text = std::get_if<graph::Json>(&input.value))
                        name = text->get<std::string>();
            const auto path = folders.model_path(loader.folder, name);
            if (!path) return fail(path.error());
            const auto directory = formats::open_tensors(*path);
            if (!directory) return fail(directory.error());
            if (loader.outputs.size() > 1)
                if (auto fits = models::require_sd1(*directory); !fits)
                    return fail(std::move(fits).error());
            for (const auto output : used[i]) {
                const auto component = loader.outputs.at(output);
                auto full_name = fmt::format("{} ({})", name, name_of(component));
                if (!known.insert(path->string() + full_name).second) continue;
                auto table = table_of(*directory, component);
                if (!table) return fail(std::move(table).error());
                models.push_back(
                    {.name = std::move(full_name), .table = *std::move(table), .plan = {}});
            }
        }
    }
    return models;
}

Json shortfall_json(const std::map<DeviceId, Shortfall>& shortfall) {
    Json list = Json::object();
    for (const auto& [device, lack] : shortfall)
        list[to_string(device)] = {
            {"needed", lack.needed}, {"available", lack.available}, {"missing", lack.missing()}};
    return list;
}

Json model_json(const PlannedModel& model) {
    Json blocks = Json::array();
    for (std::size_t i = 0; i < model.table.blocks().size(); ++i) {
        const auto& block = model.table.blocks()[i];
        blocks.push_back({{"name", block.name},
                          {"bytes", block.bytes.count()},
                          {"home", to_string(model.plan.homes[i])},
                          {"pinned", true}});
    }
    Json homes = Json::object();
    for (const auto& [device, bytes] : model.plan.per_device)
        homes[to_string(device)] = bytes.count();
    return {{"name", model.name},
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
            {"plan", plan::digest(model.table, model.plan)},
            {"warnings", Json::array()},
            {"explanation", Json::array({"every block stays on cpu, the compute device"})}};
}

}  // namespace

int dry_run(const graph::ValidWorkflow& workflow, const graph::Folders& folders,
            const std::map<DeviceId, Bytes>& limits, Console& console) {
    auto models = plan_models(workflow, folders);
    if (!models) return console.fail(models.error());

    const auto limit = limits.find(kCpu);
    std::optional<Bytes> left;
    if (limit != limits.end()) left = limit->second;
    const auto room = left;
    Bytes sum;
    for (auto& model : *models) {
        model.plan = plan::resident_plan(model.table, kCpu, left);
        if (left) left = left->minus_or_zero(model.table.bytes());
        sum += model.table.bytes();
    }
    const bool fits = !room || sum <= *room;
    std::map<DeviceId, Shortfall> shortfall;
    if (!fits) shortfall[kCpu] = {.needed = sum.count(), .available = room->count()};

    Json document{{"models", Json::array()},
                  {"homes", {{"cpu", sum.count()}}},
                  {"fits", fits},
                  {"shortfall", shortfall_json(shortfall)},
                  {"warnings", Json::array()}};
    std::string text;
    for (const auto& model : *models) {
        document["models"].push_back(model_json(model));
        text += fmt::format("{}: {} blocks, {} on cpu\n", model.name, model.table.blocks().size(),
                            to_string(model.table.bytes()));
    }
    text += fmt::format("weights: {} on cpu{}\n", to_string(sum),
                        room ? fmt::format(", limit {}", to_string(*room)) : std::string());
    if (!fits)
        text += fmt::format("does not fit: needed {}, available {}, missing {}\n", sum.count(),
                            room->count(), shortfall.at(kCpu).missing());
    console.say(text);
    console.print(document);
    return fits ? 0 : exit_status(Code::does_not_fit);
}

}  // namespace ballast::cli
