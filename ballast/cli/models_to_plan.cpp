#include "ballast/cli/models_to_plan.hpp"

#include <utility>

#include "ballast/cli/placement_options.hpp"
#include "ballast/engine/core/text_file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/blocks_json.hpp"
#include "ballast/graph/latent_shape.hpp"
#include "ballast/models/component.hpp"
#include "ballast/models/family.hpp"

namespace ballast::cli {
namespace {

constexpr Bytes kLargestList{std::uint64_t{256} << 20U};

Result<ModelToPlan> listed_model(const std::string& path) {
    const auto text = read_text_file(path, kLargestList);
    if (!text) return fail(text.error());
    auto list = plan::parse_blocks(*text, path);
    if (!list) return fail(list.error());
    ModelToPlan model{.part = {.name = path, .blocks = std::move(list->blocks)}};
    model.part.is_file_backed = list->is_file_backed;
    model.warnings = std::move(list->warnings);
    return model;
}

/// One picture of the size asked for; both halves of guidance are evaluated in one call.
models::StepShape shape_asked_for(const Settings& settings) {
    return {.batch = settings.integer("batch") * settings.integer("frames"),
            .height = settings.integer("height") / graph::kPixelsPerCell,
            .width = settings.integer("width") / graph::kPixelsPerCell,
            .sides = 2};
}

Result<std::vector<ModelToPlan>> models_of_file(const std::string& path, const Settings& settings) {
    const auto directory = formats::open_tensors(path);
    if (!directory) return fail(directory.error());
    const auto family = models::recognise(*directory).family;
    std::vector<ModelToPlan> models;
    for (const auto& part : models::sd::kParts) {
        auto found = graph::part_to_plan(*directory, part, shape_asked_for(settings));
        if (found)
            models.push_back({.part = *std::move(found), .is_distributed = models.empty()});
        else if (family == models::Family::sd15 && found.error().code != Code::not_found)
            return fail(std::move(found).error());
    }
    if (models.empty())
        models.push_back(
            {.part = {.name = path,
                      .blocks = plan::plan_blocks(models::blocks_of_file(*directory))}});
    return models;
}

}  // namespace

Result<std::vector<ModelToPlan>> models_to_plan(const std::string& operand,
                                                const Settings& settings) {
    const auto list = settings.text("blocks");
    if (!list.empty() && !operand.empty())
        return fail(plan_usage("--blocks", "there is a file to plan for, too", "give one of them"));
    if (list.empty() && operand.empty())
        return fail(plan_usage("FILE", "there is nothing to plan for",
                               "name a workflow, a file of weights, or --blocks FILE"));
    if (list.empty()) return models_of_file(operand, settings);
    auto model = listed_model(list);
    if (!model) return fail(model.error());
    return std::vector{*std::move(model)};
}

}  // namespace ballast::cli
