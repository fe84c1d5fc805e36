#pragma once
// How much memory a step of a diffusion model takes beside its weights.
//
// Rules of thumb of ComfyUI 0.8.0, kept as they are so that a graph that ran there is placed in the
// same way here. Estimates are real numbers of bytes; shapes are those of tensors, outermost first.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ballast/engine/machine/diffusion_family.hpp"
#include "ballast/engine/machine/number_formats.hpp"

namespace ballast::machine {

/// Sizes of a tensor: [N, C, H, W] of a picture, [N, C, T, H, W] of a film, in elements.
using Shape = std::vector<std::int64_t>;

/// Shapes of conditioning tensors by name, all of those that one evaluation may see.
using ConditioningShapes = std::map<std::string, std::vector<Shape>>;

/// Whether attention works in pieces (xformers, flash-class kernels), so that memory grows with the
/// area instead of its square.
enum class AttentionKind { flash, other };

/// The framework's built-in attention, as the user switches it.
enum class BuiltinAttention { automatic, on, off };

/// What attention on `device` is: flash-class on NVIDIA, XPU, NPU, MLU and CoreX unless switched
/// off, on AMD only if switched on.
AttentionKind attention_of(const DeviceProfile& device, BuiltinAttention builtin);

/// A network in the eyes of the estimate.
struct StepModel {
    DiffusionFamily family = DiffusionFamily::other;
    FamilySizes sizes{};
    /// Empty: unknown, counted as four bytes.
    std::optional<NumberFormat> compute{};
    AttentionKind attention = AttentionKind::flash;
};

/// N * d1 * d2 * ... of a shape [N, C, d1, d2, ...].
double area(const Shape& shape);

/// Bytes of one evaluation with an input [N, C, d1, d2, ...]:
///
///     flash:  area * bytes(compute format) * 0.01 * factor * 2^20
///     other:  area * 0.15 * factor * 2^20
///
/// `area` is the input's and, where the family attends to them, that of the conditioning tensors:
/// "ref_latents" of Flux, OmniGen2 and Qwen-Image (see `reference_latents_shape`); of Wan S2V
/// "reference_latent", and "reference_motion", which counts as one and a half frames.
double step_estimate(const StepModel& model, const Shape& input,
                     const ConditioningShapes& conditioning = {});

/// The one shape that stands for reference latents [n, c, h, w], ...: [1, 16, sum of n's pixels].
Shape reference_latents_shape(const std::vector<Shape>& latents);

/// What sampling asks of the loader, in bytes.
struct SamplingMemory {
    double required = 0;  ///< conditional and unconditional side in one evaluation
    double minimum = 0;   ///< one after the other, with the largest conditioning of each name
};

/// For noise [N, C, d1, d2, ...]: the estimate of 2 N with all conditioning shapes, and of N with
/// the largest of each name.
SamplingMemory sampling_memory(const StepModel& model, const Shape& noise,
                               const ConditioningShapes& conditioning = {});

/// Bytes that a control-LoRA adds to `SamplingMemory`: it borrows the model's weights, so its own
/// are built while sampling. Ordinary control nets add nothing; they are loaded as models.
double control_lora_memory(double params, std::optional<NumberFormat> model_format);

/// How many samples of `estimate` bytes go through at a time with `free` bytes: at least one.
std::int64_t batch_that_fits(double free, double estimate);

/// Whether conditions may be evaluated as one batch: 1.5 * estimate < free.
bool condition_batch_fits(double free, double estimate);

}  // namespace ballast::machine
