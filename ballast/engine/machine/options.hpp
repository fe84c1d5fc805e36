#pragma once
// What a user asks of memory: ComfyUI's memory flags as one value.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast {
class Settings;
}

namespace ballast::machine {

/// --normalvram (which changes nothing), --lowvram, --novram, --highvram, --gpu-only, --cpu.
enum class VramFlag { normal, low, none, high, gpu_only, cpu };

/// What the user says about one device's memory class.
enum class ClassOverride { automatic, unified, discrete };

/// Memory to leave to others, as bytes or as percent of the device's total.
struct Percent {
    double value = 0;
    bool operator==(const Percent&) const = default;
};
using Reserve = std::variant<Bytes, Percent>;

/// "2.5" (GiB, as ComfyUI's --reserve-vram), "2500mb", "8%". Fails with `usage`.
Result<Reserve> parse_reserve(std::string_view text);

/// --fp16-unet and so on; empty: as capability and model say.
struct FormatOptions {
    bool force_fp16 = false;
    bool force_fp32 = false;
    bool supports_fp8_compute = false;
    bool fast_fp16_accumulation = false;
    std::string unet{};          ///< "fp16", "bf16", "fp8_e4m3fn", ...
    std::string vae{};           ///< "fp16", "fp32", "bf16"
    std::string text_encoder{};  ///< "fp16", "fp32", ...

    bool operator==(const FormatOptions&) const = default;
};

struct MemoryOptions {
    VramFlag vram = VramFlag::normal;
    bool vae_on_cpu = false;
    bool smart_memory = true;
    bool pinned_memory = true;
    std::optional<int> streams{};      ///< --async-offload; 0: switched off
    std::optional<Reserve> reserve{};  ///< --reserve-vram
    std::map<DeviceId, ClassOverride> classes{};
    std::map<DeviceId, Bytes> limits{};  ///< --memory-limit
    std::optional<int> only_device{};    ///< --cuda-device: hides all others
    std::optional<int> first_device{};   ///< --default-device: comes first
    FormatOptions formats{};

    bool operator==(const MemoryOptions&) const = default;
};

/// The memory settings of a command that has them. Fails with `usage`.
Result<MemoryOptions> memory_options(const Settings& settings);

}  // namespace ballast::machine
