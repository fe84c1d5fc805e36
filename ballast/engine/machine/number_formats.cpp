#include "ballast/engine/machine/number_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "ballast/engine/machine/inference_reserve.hpp"
#include "ballast/engine/machine/memory_class.hpp"

namespace ballast::machine {
namespace {

struct Row {
    NumberFormat format;
    std::string_view name;
    unsigned bytes;
};

// in the order of the enumeration
constexpr std::array<Row, 7> kFormats{{
    {NumberFormat::fp32, "fp32", 4},
    {NumberFormat::fp64, "fp64", 8},
    {NumberFormat::fp16, "fp16", 2},
    {NumberFormat::bf16, "bf16", 2},
    {NumberFormat::fp8_e4m3fn, "fp8_e4m3fn", 1},
    {NumberFormat::fp8_e5m2, "fp8_e5m2", 1},
    {NumberFormat::fp8_e8m0fnu, "fp8_e8m0fnu", 1},
}};

constexpr unsigned kUnknownFormatBytes = 4;
constexpr double kWeightShare = 0.88;
constexpr int kFirstMacWithBf16 = 14;

// Parts of names: the driver's capability does not tell these cards from their better kin. The
// first list is compared in lower case, the second as written.
constexpr auto kSlowFp16OnLinux = std::to_array<std::string_view>(
    {"1080", "1070", "titan x", "p3000", "p3200", "p4000", "p4200", "p5000", "p5200", "p6000",
     "1060", "1050", "p40", "p100", "p6", "p4"});
constexpr auto kBrokenFp16 =
    std::to_array<std::string_view>({"1660", "1650", "1630", "T500", "T550", "T600", "MX550",
                                     "MX450", "CMP 30HX", "T2000", "T1000", "T1200"});
constexpr auto kAmdWithoutBf16 = std::to_array<std::string_view>(
    {"gfx1030", "gfx1031", "gfx1010", "gfx1011", "gfx1012", "gfx906", "gfx900", "gfx803"});
constexpr auto kAmdWithFp8 = std::to_array<std::string_view>({"gfx1200", "gfx1201", "gfx950"});

template <typename Parts>
bool has_any(std::string_view text, const Parts& parts) {
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::optional<int> parse_int(std::string_view text) {
    int value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

struct Version {
    int major = 0;
    int minor = 0;
    auto operator<=>(const Version&) const = default;
};

/// "8.9", "14" or "14.5.1".
std::optional<Version> parse_version(std::string_view text) {
    const auto dot = text.find('.');
    const auto major = parse_int(text.substr(0, dot));
    if (!major) return std::nullopt;
    if (dot == std::string_view::npos) return Version{*major, 0};
    const auto rest = text.substr(dot + 1);
    const auto minor = parse_int(rest.substr(0, rest.find('.')));
    if (!minor) return std::nullopt;
    return Version{*major, *minor};
}

/// "gfx1151", "gfx90a:sramecc+": the last two characters are minor version and stepping, what
/// stands before them is the major version. The minor version is of no use to anybody here.
std::optional<Version> parse_gfx(std::string_view text) {
    if (!text.starts_with("gfx")) return std::nullopt;
    const auto digits = text.substr(3, text.find(':') - 3);
    if (digits.size() < 3) return std::nullopt;
    const auto major = parse_int(digits.substr(0, digits.size() - 2));
    if (!major) return std::nullopt;
    return Version{*major, 0};
}

std::optional<Version> capability_of(const DeviceProfile& device) {
    return is_hip(device) ? parse_gfx(device.capability) : parse_version(device.capability);
}

/// Whether the device's list of formats has `format` or a kind of it ("fp8_e5m2" is one of fp8).
bool reports(const DeviceProfile& device, std::string_view format) {
    return std::ranges::any_of(device.types, [&](std::string_view type) {
        return type == format ||
               (type.starts_with(format) && type.substr(format.size()).starts_with('_'));
    });
}

/// 32 bits would cost more memory than 16 bits cost time.
bool saves_needed_memory(const FormatQuestion& question) {
    return question.manual_cast &&
           (!question.prioritise_performance || 4.0 * question.params > question.max_weights);
}

/// Rows 10 to 16 of fp16.
bool fp16_by_capability(const FormatQuestion& question) {
    const auto& device = question.device;
    const auto capability = capability_of(device);
    if (!capability) return reports(device, "fp16");
    if (capability->major >= 8) return true;
    if (capability->major < 6) return false;
    const auto name = device.fails(Query::name) ? std::string{} : device.name;
    if (has_any(lower(name), kSlowFp16OnLinux))
        return question.system == System::windows || question.manual_cast;
    if (saves_needed_memory(question)) return true;
    if (capability->major < 7) return false;
    return !has_any(name, kBrokenFp16);
}

/// Rows 7 to 11 of bf16.
bool bf16_by_capability(const FormatQuestion& question) {
    const auto& device = question.device;
    const auto capability = capability_of(device);
    if (!capability) return reports(device, "bf16");
    if (is_hip(device) && has_any(device.capability, kAmdWithoutBf16)) return question.manual_cast;
    if (device.id.kind == DeviceKind::mlu && capability->major > 3) return true;
    if (capability->major >= 8) return true;
    return reports(device, "bf16") && saves_needed_memory(question);
}

bool bf16_on_metal(const FormatQuestion& question) {
    const auto version = parse_version(question.system_version);
    return version ? version->major >= kFirstMacWithBf16 : reports(question.device, "bf16");
}

}  // namespace

std::string_view to_string(NumberFormat format) {
    return kFormats[static_cast<std::size_t>(format)].name;
}

std::optional<NumberFormat> parse_number_format(std::string_view text) {
    const auto found = std::ranges::find(kFormats, text, &Row::name);
    return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

Bytes bytes_of(std::optional<NumberFormat> format) {
    return Bytes{format ? kFormats[static_cast<std::size_t>(*format)].bytes : kUnknownFormatBytes};
}

bool is_fp8(NumberFormat format) { return to_string(format).starts_with("fp8"); }

double max_weights(const DeviceProfile& device, double min_inference) {
    const auto total = device.fails(Query::total) ? Bytes{} : device.total.value_or(Bytes{});
    return kWeightShare * static_cast<double>(total.count()) - min_inference;
}

FormatQuestion question_about(const DeviceProfile& device, const MachineProfile& machine,
                              const MemoryOptions& options) {
    const auto total = device.fails(Query::total) ? std::nullopt : device.total;
    FormatQuestion question;
    question.device = device;
    question.system = machine.system;
    question.system_version = machine.system_version;
    question.options = options.formats;
    question.max_weights =
        max_weights(device, min_inference(machine.system, total, options.reserve));
    return question;
}

bool fp16_usable(const FormatQuestion& question) {
    const auto& device = question.device;
    if (device.id.kind == DeviceKind::cpu && question.is_named) return false;
    if (question.options.force_fp16) return true;
    if (question.options.force_fp32) return false;
    switch (device.id.kind) {
        case DeviceKind::directml:
        case DeviceKind::mps:
        case DeviceKind::npu:
        case DeviceKind::mlu:
        case DeviceKind::corex: return true;
        case DeviceKind::cpu:
        case DeviceKind::disk: return false;
        case DeviceKind::xpu:
        case DeviceKind::privateuseone: return reports(device, "fp16");
        case DeviceKind::cuda: return is_hip(device) || fp16_by_capability(question);
    }
    return false;
}

bool bf16_usable(const FormatQuestion& question) {
    if (question.options.force_fp32) return false;
    switch (question.device.id.kind) {
        case DeviceKind::cpu:
        case DeviceKind::disk:
        case DeviceKind::directml: return false;
        case DeviceKind::mps: return bf16_on_metal(question);
        case DeviceKind::npu:
        case DeviceKind::corex: return true;
        case DeviceKind::xpu:
        case DeviceKind::privateuseone: return reports(question.device, "bf16");
        case DeviceKind::cuda:
        case DeviceKind::mlu: return bf16_by_capability(question);
    }
    return false;
}

bool has_hardware_fp8(const DeviceProfile& device, const FormatOptions& options) {
    if (options.supports_fp8_compute) return true;
    const auto capability = capability_of(device);
    if (is_hip(device))
        return capability ? has_any(device.capability, kAmdWithFp8) : reports(device, "fp8");
    if (!is_nvidia(device)) return false;
    return capability ? *capability >= Version{8, 9} : reports(device, "fp8");
}

bool has_nvfp4(const DeviceProfile& device) {
    if (!is_nvidia(device)) return false;
    const auto capability = capability_of(device);
    return capability ? capability->major >= 10 : reports(device, "nvfp4");
}

}  // namespace ballast::machine
