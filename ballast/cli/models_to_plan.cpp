#include "ballast/cli/models_to_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ballast/engine/core/text_file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/machine/diffusion_family.hpp"
#include "ballast/engine/plan/blocks_json.hpp"
#include "ballast/models/component.hpp"
#include "ballast/models/family.hpp"
#include "ballast/models/sd/parts.hpp"

namespace ballast::cli {
namespace {

using machine::NumberFormat;
using models::sd::Part;
using Kind = ModelToPlan::Kind;

constexpr Bytes kLargestList{std::uint64_t{256} << 20U};
constexpr std::int64_t kPixelsPerCell = 8;

Kind kind_of(const Part& part) {
    if (part.name == models::sd::kTextPart.name) return Kind::text_encoder;
    return part.name == models::sd::kVaePart.name ? Kind::autoencoder : Kind::network;
}

Result<ModelToPlan> listed_model(const std::string& path) {
    const auto text = read_text_file(path, kLargestList);
    if (!text) return fail(text.error());
    auto list = plan::parse_blocks(*text, path);
    if (!list) return fail(list.error());
    ModelToPlan model{.name = path, .blocks = std::move(list->blocks)};
    model.is_file_backed = list->is_file_backed;
    model.warnings = std::move(list->warnings);
    return model;
}

/// One picture of the size asked for; both halves of guidance are evaluated in one call.
models::StepShape shape_asked_for(const Settings& settings) {
    return {.batch = settings.integer("batch") * settings.integer("frames"),
            .height = settings.integer("height") / kPixelsPerCell,
            .width = settings.integer("width") / kPixelsPerCell,
            .sides = 2};
}

std::optional<NumberFormat> number_format(ElementType type) {
    switch (type) {
        case ElementType::f16: return NumberFormat::fp16;
        case ElementType::bf16: return NumberFormat::bf16;
        case ElementType::f32: return NumberFormat::fp32;
        case ElementType::f64: return NumberFormat::fp64;
        case ElementType::f8_e4m3: return NumberFormat::fp8_e4m3fn;
        case ElementType::f8_e5m2: return NumberFormat::fp8_e5m2;
        default: return std::nullopt;
    }
}

/// The number of parameters and the format of most of them.
machine::WeightsFile weights_of(const plan::BlockTable& table) {
    std::map<NumberFormat, double> elements;
    double params = 0;
    for (const auto& block : table.blocks())
        for (const auto& tensor : block.tensors) {
            double count = 1;
            for (const auto size : tensor.shape) count *= static_cast<double>(size);
            params += count;
            if (const auto format = number_format(tensor.type)) elements[*format] += count;
        }
    const auto formats =
        machine::supported_formats(machine::DiffusionFamily::sd15, machine::HalfSupport::extended);
    machine::WeightsFile weights{.params = params, .supported = {formats.begin(), formats.end()}};
    const auto most = std::ranges::max_element(
        elements, {}, [](const auto& format_and_count) { return format_and_count.second; });
    if (most != elements.end()) weights.majority = most->first;
    return weights;
}

Result<ModelToPlan> model_of_part(const formats::TensorDirectory& directory, const Part& part,
                                  models::StepShape shape) {
    const auto table = part.blocks(directory);
    if (!table) return fail(table.error());
    ModelToPlan model{.name = fmt::format("{} ({})", directory.path().string(), part.name),
                      .blocks = plan::plan_blocks(*table),
                      .kind = kind_of(part)};
    model.is_distributed = false;
    model.weights = weights_of(*table);
    for (const auto bytes : {2, 4}) {
        shape.element_bytes = bytes;
        auto costs = part.costs(directory, shape);
        if (!costs) return fail(costs.error());
        model.costs.emplace(bytes, *std::move(costs));
    }
    return model;
}

Result<std::vector<ModelToPlan>> models_of_file(const std::string& path, const Settings& settings) {
    const auto directory = formats::open_tensors(path);
    if (!directory) return fail(directory.error());
    const auto family = models::recognise(*directory).family;
    std::vector<ModelToPlan> models;
    for (const auto& part : models::sd::kParts) {
        auto model = model_of_part(*directory, part, shape_asked_for(settings));
        if (model)
            models.push_back(*std::move(model));
        else if (family == models::Family::sd15 && model.error().code != Code::not_found)
            return fail(std::move(model).error());
    }
    if (models.empty())
        models.push_back(
            {.name = path, .blocks = plan::plan_blocks(models::blocks_of_file(*directory))});
    models.front().is_distributed = true;
    return models;
}

}  // namespace

Error plan_usage(std::string key, std::string why, std::string hint) {
    return {.code = Code::usage,
            .what = "cannot plan",
            .why = std::move(why),
            .place = {.key = std::move(key)},
            .hint = std::move(hint)};
}

Result<std::vector<ModelToPlan>> models_to_plan(const Invocation& invocation,
                                                const Settings& settings) {
    const auto list = settings.text("blocks");
    if (!list.empty() && !invocation.operand.empty())
        return fail(plan_usage("--blocks", "there is a file of weights, too", "give one of them"));
    if (list.empty() && invocation.operand.empty())
        return fail(plan_usage("MODEL", "there is nothing to plan for",
                               "name a file of weights, or --blocks FILE"));
    if (list.empty()) return models_of_file(invocation.operand, settings);
    auto model = listed_model(list);
    if (!model) return fail(model.error());
    return std::vector{*std::move(model)};
}

std::int64_t activation_element(const ModelToPlan& model, DeviceId device, const Machine& machine) {
    const auto* found = machine::find_device(machine.profile, device);
    const auto question =
        machine::question_about(found != nullptr ? *found : machine::DeviceProfile{.id = device},
                                machine.profile, machine.options);
    auto format = NumberFormat::fp32;
    switch (model.kind) {
        case Kind::text_encoder: break;
        case Kind::autoencoder:
            // as its weights: ComfyUI casts none of them
            format = machine::vae_format(question, machine::kBf16Only);
            break;
        case Kind::network: {
            const auto stored = machine::stored_format(question, model.weights);
            format =
                machine::compute_format(question, stored, model.weights.supported).value_or(stored);
            break;
        }
    }
    return machine::bytes_of(format).count() <= 2 ? 2 : 4;
}

}  // namespace ballast::cli
