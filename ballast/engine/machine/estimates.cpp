#include "ballast/engine/machine/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

#include "ballast/engine/machine/memory_class.hpp"

namespace ballast::machine {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kFlashShare = 0.01;
constexpr double kOtherShare = 0.15;
constexpr double kMotionFrames = 1.5;
constexpr double kConditionBatchSafety = 1.5;
constexpr std::int64_t kReferenceChannels = 16;

/// Product of the sizes from index `from` on.
double product(const Shape& shape, std::size_t from) {
    const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(std::min(from, shape.size()));
    return std::accumulate(begin, shape.end(), 1.0, [](double total, std::int64_t size) {
        return total * static_cast<double>(size);
    });
}

/// [N, C, T, H, W] as if T were one and a half.
double motion_area(const Shape& shape) {
    if (shape.size() < 4) return area(shape);
    return static_cast<double>(shape.front()) * kMotionFrames * product(shape, shape.size() - 2);
}

using AreaOf = double (*)(const Shape&);

/// How the family counts conditioning tensors of that name; null: not at all.
AreaOf conditioning_area(DiffusionFamily family, std::string_view name) {
    switch (family) {
        case DiffusionFamily::flux:
        case DiffusionFamily::flux_inpaint:
        case DiffusionFamily::flux2:
        case DiffusionFamily::omnigen2:
        case DiffusionFamily::qwen_image: return name == "ref_latents" ? &area : nullptr;
        case DiffusionFamily::wan_s2v:
            if (name == "reference_latent") return &area;
            return name == "reference_motion" ? &motion_area : nullptr;
        default: return nullptr;
    }
}

double total_area(DiffusionFamily family, const Shape& input,
                  const ConditioningShapes& conditioning) {
    double total = area(input);
    for (const auto& [name, shapes] : conditioning) {
        const auto area_of = conditioning_area(family, name);
        if (area_of == nullptr) continue;
        for (const auto& shape : shapes) total += area_of(shape);
    }
    return total;
}

ConditioningShapes largest_of_each(const ConditioningShapes& conditioning) {
    ConditioningShapes largest;
    const auto elements = [](const Shape& shape) { return product(shape, 0); };
    for (const auto& [name, shapes] : conditioning)
        if (!shapes.empty())
            largest[name] = {*std::ranges::max_element(shapes, std::less<>{}, elements)};
    return largest;
}

}  // namespace

AttentionKind attention_of(const DeviceProfile& device, BuiltinAttention builtin) {
    if (builtin == BuiltinAttention::off) return AttentionKind::other;
    const auto kind = device.id.kind;
    const bool has_flash_by_default = is_nvidia(device) || kind == DeviceKind::xpu ||
                                      kind == DeviceKind::npu || kind == DeviceKind::mlu ||
                                      kind == DeviceKind::corex;
    const bool is_switched_on = builtin == BuiltinAttention::on && is_hip(device);
    return has_flash_by_default || is_switched_on ? AttentionKind::flash : AttentionKind::other;
}

double area(const Shape& shape) {
    return shape.empty() ? 0.0 : static_cast<double>(shape.front()) * product(shape, 2);
}

double step_estimate(const StepModel& model, const Shape& input,
                     const ConditioningShapes& conditioning) {
    const double elements = total_area(model.family, input, conditioning);
    const double factor = memory_factor(model.family, model.sizes);
    if (model.attention == AttentionKind::other) return elements * kOtherShare * factor * kMebi;
    const auto bytes = static_cast<double>(bytes_of(model.compute).count());
    return elements * bytes * kFlashShare * factor * kMebi;
}

Shape reference_latents_shape(const std::vector<Shape>& latents) {
    double places = 0;
    for (const auto& latent : latents) places += product(latent, 2);
    return {1, kReferenceChannels, static_cast<std::int64_t>(places)};
}

SamplingMemory sampling_memory(const StepModel& model, const Shape& noise,
                               const ConditioningShapes& conditioning) {
    auto both_sides = noise;
    if (!both_sides.empty()) both_sides.front() *= 2;
    return {.required = step_estimate(model, both_sides, conditioning),
            .minimum = step_estimate(model, noise, largest_of_each(conditioning))};
}

double control_lora_memory(double params, std::optional<NumberFormat> model_format) {
    return params * static_cast<double>(bytes_of(model_format).count());
}

std::int64_t batch_that_fits(double free, double estimate) {
    constexpr double kMost = 1e18;  // an estimate of zero fits any number
    const double count = std::floor(free / estimate);
    if (std::isnan(count)) return 1;
    return static_cast<std::int64_t>(std::clamp(count, 1.0, kMost));
}

bool condition_batch_fits(double free, double estimate) {
    return kConditionBatchSafety * estimate < free;
}

}  // namespace ballast::machine
