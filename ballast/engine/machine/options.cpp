#include "ballast/engine/machine/options.hpp"

#include "ballast/engine/core/setting_values.hpp"
#include "ballast/engine/core/settings.hpp"

namespace ballast::machine {
namespace {

VramFlag vram_flag(const Settings& settings) {
    if (settings.flag("cpu")) return VramFlag::cpu;
    if (settings.flag("gpu-only")) return VramFlag::gpu_only;
    if (settings.flag("highvram")) return VramFlag::high;
    if (settings.flag("lowvram")) return VramFlag::low;
    if (settings.flag("novram")) return VramFlag::none;
    return VramFlag::normal;
}

std::optional<int> streams(const Settings& settings) {
    if (settings.flag("disable-async-offload")) return 0;
    if (!settings.is_given("async-offload")) return std::nullopt;
    return static_cast<int>(settings.integer("async-offload"));
}

std::map<DeviceId, ClassOverride> classes(const Settings& settings) {
    std::map<DeviceId, ClassOverride> result;
    for (const auto& [device, choice] : settings.device_choices("memory-class")) {
        if (choice == "unified") result[device] = ClassOverride::unified;
        if (choice == "discrete") result[device] = ClassOverride::discrete;
    }
    return result;
}

struct NamedFlag {
    SettingName name;
    const char* format;
};

std::string chosen(const Settings& settings, std::initializer_list<NamedFlag> flags) {
    for (const auto& [name, format] : flags)
        if (settings.flag(name)) return format;
    return {};
}

FormatOptions formats(const Settings& settings) {
    return {
        .force_fp16 = settings.flag("force-fp16"),
        .force_fp32 = settings.flag("force-fp32"),
        .supports_fp8_compute = settings.flag("supports-fp8-compute"),
        .fast_fp16_accumulation = false,
        .unet = chosen(settings, {{"fp32-unet", "fp32"},
                                  {"fp64-unet", "fp64"},
                                  {"bf16-unet", "bf16"},
                                  {"fp16-unet", "fp16"},
                                  {"fp8_e4m3fn-unet", "fp8_e4m3fn"},
                                  {"fp8_e5m2-unet", "fp8_e5m2"},
                                  {"fp8_e8m0fnu-unet", "fp8_e8m0fnu"}}),
        .vae = chosen(settings, {{"fp16-vae", "fp16"}, {"fp32-vae", "fp32"}, {"bf16-vae", "bf16"}}),
        .text_encoder = chosen(settings, {{"fp8_e4m3fn-text-enc", "fp8_e4m3fn"},
                                          {"fp8_e5m2-text-enc", "fp8_e5m2"},
                                          {"fp16-text-enc", "fp16"},
                                          {"fp32-text-enc", "fp32"},
                                          {"bf16-text-enc", "bf16"}})};
}

bool is_fast(const Settings& settings) {
    for (const auto& choice : settings.list("fast"))
        if (choice == "fp16_accumulation" || choice == "all") return true;
    return false;
}

std::optional<int> device_number(const Settings& settings, SettingName name) {
    if (!settings.is_given(name)) return std::nullopt;
    return static_cast<int>(settings.integer(name));
}

}  // namespace

Result<Reserve> parse_reserve(std::string_view text) {
    const auto share = parse_memory_share(text);
    if (!share) return fail(share.error());
    if (share->percent) return Reserve{Percent{*share->percent}};
    return Reserve{share->bytes.value_or(Bytes{})};
}

Result<MemoryOptions> memory_options(const Settings& settings) {
    MemoryOptions options{.vram = vram_flag(settings),
                          .vae_on_cpu = settings.flag("cpu-vae"),
                          .smart_memory = !settings.flag("disable-smart-memory"),
                          .pinned_memory = !settings.flag("disable-pinned-memory"),
                          .streams = streams(settings),
                          .classes = classes(settings),
                          .limits = settings.device_sizes("memory-limit"),
                          .only_device = device_number(settings, "cuda-device"),
                          .first_device = device_number(settings, "default-device"),
                          .formats = formats(settings)};
    options.formats.fast_fp16_accumulation = is_fast(settings);
    if (const auto text = settings.text("reserve-vram"); !text.empty()) {
        const auto reserve = parse_reserve(text);
        if (!reserve) return fail(reserve.error());
        options.reserve = *reserve;
    }
    return options;
}

}  // namespace ballast::machine
