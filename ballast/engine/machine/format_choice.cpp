#include "ballast/engine/machine/format_choice.hpp"

#include <algorithm>

namespace ballast::machine {
namespace {

using enum NumberFormat;

constexpr double kUnknownParams = 1e21;

bool has(std::span<const NumberFormat> formats, NumberFormat format) {
    return std::ranges::find(formats, format) != formats.end();
}

bool is_usable(const FormatQuestion& question, NumberFormat format) {
    return (format == fp16 && fp16_usable(question)) || (format == bf16 && bf16_usable(question));
}

/// The first of the 16-bit formats that is usable.
std::optional<NumberFormat> first_usable(const FormatQuestion& question,
                                         std::span<const NumberFormat> supported) {
    const auto found = std::ranges::find_if(
        supported, [&](NumberFormat format) { return is_usable(question, format); });
    return found == supported.end() ? std::nullopt : std::optional(*found);
}

FormatQuestion plain(const FormatQuestion& where, double params) {
    auto question = where;
    question.params = params;
    question.prioritise_performance = true;
    question.manual_cast = false;
    return question;
}

std::optional<NumberFormat> said_for_unet(const FormatOptions& options) {
    if (const auto said = parse_number_format(options.unet)) return said;
    return options.force_fp16 ? std::optional(fp16) : std::nullopt;
}

/// An fp8 file's own format, if its numbers are multiplied directly or if nothing wider fits.
std::optional<NumberFormat> kept_fp8(const FormatQuestion& question,
                                     std::optional<NumberFormat> majority) {
    if (!majority || !is_fp8(*majority)) return std::nullopt;
    const bool is_kept = has_hardware_fp8(question.device, question.options) ||
                         2.0 * question.params > question.max_weights;
    return is_kept ? majority : std::nullopt;
}

}  // namespace

NumberFormat stored_format(const FormatQuestion& where, const WeightsFile& file) {
    if (file.from_loader) return *file.from_loader;
    if (const auto said = said_for_unet(where.options)) return *said;

    auto question = plain(where, file.params.value_or(kUnknownParams));
    if (const auto kept = kept_fp8(question, file.majority)) return *kept;
    const bool prefers_fp16 = where.options.fast_fp16_accumulation || file.majority == fp16;
    if (prefers_fp16 && has(file.supported, fp16) && fp16_usable(question)) return fp16;
    if (const auto usable = first_usable(question, file.supported)) return *usable;
    question.manual_cast = true;
    return first_usable(question, file.supported).value_or(fp32);
}

std::optional<NumberFormat> compute_format(const FormatQuestion& where,
                                           std::optional<NumberFormat> stored,
                                           std::span<const NumberFormat> supported) {
    if (stored == fp32 || stored == fp64) return std::nullopt;
    // rows 2 and 4 differ in priority, which counts only with manual cast: one question serves both
    const auto question = plain(where, 0);
    if (stored && is_usable(question, *stored)) return std::nullopt;
    if (where.options.fast_fp16_accumulation && has(supported, fp16) && fp16_usable(question))
        return fp16;
    return first_usable(question, supported).value_or(fp32);
}

NumberFormat control_net_format(const FormatQuestion& where, const WeightsFile& file) {
    const auto without_fp8 = [](std::optional<NumberFormat> format) {
        return format && is_fp8(*format) ? std::nullopt : format;
    };
    auto there = where;
    if (!without_fp8(parse_number_format(where.options.unet))) there.options.unet.clear();
    auto wider = file;
    wider.majority = without_fp8(file.majority);
    wider.from_loader = without_fp8(file.from_loader);
    return stored_format(there, wider);
}

NumberFormat text_encoder_format(const FormatOptions& options) {
    return parse_number_format(options.text_encoder).value_or(fp16);
}

NumberFormat vae_format(const FormatQuestion& where, std::span<const NumberFormat> supported) {
    if (const auto said = parse_number_format(where.options.vae)) return *said;
    return first_usable(plain(where, 0), supported).value_or(fp32);
}

NumberFormat patch_format(const FormatQuestion& where) {
    return fp16_usable(plain(where, 0)) ? fp16 : fp32;
}

bool is_castable(DeviceKind device, NumberFormat format) {
    switch (format) {
        case fp32:
        case fp16: return true;
        case bf16: return device != DeviceKind::directml;
        case fp8_e4m3fn:
        case fp8_e5m2: return device != DeviceKind::directml && device != DeviceKind::mps;
        case fp64:
        case fp8_e8m0fnu: return false;
    }
    return false;
}

bool is_computable(DeviceKind device, NumberFormat format) {
    if (format == fp32) return true;
    return device != DeviceKind::cpu && (format == fp16 || format == bf16);
}

NumberFormat pick_weight_format(std::optional<NumberFormat> wanted, NumberFormat fallback,
                                DeviceKind device) {
    if (!wanted || bytes_of(wanted) > bytes_of(fallback) || !is_castable(device, *wanted))
        return fallback;
    return *wanted;
}

}  // namespace ballast::machine
