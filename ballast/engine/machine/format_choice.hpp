#pragma once
// The formats a model's weights are kept and computed in, by kind of model.
//
// Follows ComfyUI 0.8.0. Options that name no format count as unset; settings refuse them earlier.

#include <optional>
#include <span>
#include <vector>

#include "ballast/engine/machine/number_formats.hpp"

namespace ballast::machine {

/// A file of diffusion weights, as far as the choice of its format looks at it.
struct WeightsFile {
    std::optional<double> params{};             ///< unknown counts as more than fits anywhere
    std::vector<NumberFormat> supported{};      ///< formats the model works in, best first
    std::optional<NumberFormat> majority{};     ///< of most elements; empty: quantised by layer
    std::optional<NumberFormat> from_loader{};  ///< what the loading node says, which wins
};

/// The format that diffusion weights are kept in. Parameters, priority and manual cast of `where`
/// are not looked at. The first that applies: what the loader says; --*-unet, which --force-fp16
/// implies; the file's own fp8 if the device multiplies it or if 16 bits would exceed
/// `max_weights`; fp16 if supported, usable, and either the file's own or asked for by --fast
/// fp16_accumulation; the first supported one of fp16 and bf16 that is usable; the same with manual
/// cast; fp32.
NumberFormat stored_format(const FormatQuestion& where, const WeightsFile& file);

/// The format that weights kept in `stored` are cast to for computing; empty if they are computed
/// as they are. `stored` is empty for files quantised by layer. fp32 and fp64 stay, and so do fp16
/// and bf16 where usable; else the first of `supported` that is usable, fp16 before all others
/// under --fast fp16_accumulation; else fp32.
std::optional<NumberFormat> compute_format(const FormatQuestion& where,
                                           std::optional<NumberFormat> stored,
                                           std::span<const NumberFormat> supported);

/// As `stored_format`, but never fp8: control nets are not kept in it, whatever file and options
/// say.
NumberFormat control_net_format(const FormatQuestion& where, const WeightsFile& file);

/// Text encoders and CLIP vision: --*-text-enc, else fp16, on a processor too. They are computed
/// in fp32.
NumberFormat text_encoder_format(const FormatOptions& options);

/// --*-vae, else the first of fp16 and bf16 in `supported` (best first) that is usable, else fp32.
NumberFormat vae_format(const FormatQuestion& where, std::span<const NumberFormat> supported);

/// fp16 where usable, else fp32: the format that weight patches are computed in, and GLIGEN.
NumberFormat patch_format(const FormatQuestion& where);

/// Whether the device can hold weights of the format and cast them to another.
bool is_castable(DeviceKind device, NumberFormat format);

/// Whether the device can calculate in the format.
bool is_computable(DeviceKind device, NumberFormat format);

/// `wanted`, unless it is unset, larger than `fallback`, or not castable on the device.
NumberFormat pick_weight_format(std::optional<NumberFormat> wanted, NumberFormat fallback,
                                DeviceKind device);

}  // namespace ballast::machine
