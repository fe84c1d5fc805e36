#include "ballast/engine/machine/placement.hpp"

namespace ballast::machine {
namespace {

constexpr Bytes kSmallTextEncoder{std::uint64_t{1} << 30U};

double as_double(Bytes bytes) { return static_cast<double>(bytes.count()); }

DeviceId device_of(const PlacementQuestion& question) { return question.memory.device.id; }

bool is_unified(const PlacementQuestion& question) {
    return question.memory.memory_class == MemoryClass::unified;
}

bool is_gpu_only(const PlacementQuestion& question) {
    return question.memory.options.vram == VramFlag::gpu_only && question.state == VramState::high;
}

DeviceId text_encoder_device(const PlacementQuestion& question) {
    if (is_gpu_only(question)) return device_of(question);
    if (question.state != VramState::high && question.state != VramState::normal) return kCpu;
    const bool is_integrated =
        is_unified(question) || question.memory.memory_class == MemoryClass::partitioned;
    return is_integrated || question.is_fp16_usable ? device_of(question) : kCpu;
}

}  // namespace

std::string_view to_string(VramState state) {
    switch (state) {
        case VramState::disabled: return "DISABLED";
        case VramState::no_vram: return "NO_VRAM";
        case VramState::low: return "LOW";
        case VramState::normal: return "NORMAL";
        case VramState::high: return "HIGH";
        case VramState::shared: return "SHARED";
    }
    return "";
}

bool allows_partial_loading(const DeviceProfile& device, const MemoryOptions& options) {
    return device.id.kind != DeviceKind::directml || options.vram == VramFlag::low;
}

VramState vram_state(const DeviceProfile& device, MemoryClass memory_class,
                     const MemoryOptions& options) {
    if (memory_class == MemoryClass::none) return VramState::disabled;
    if (memory_class == MemoryClass::shared) return VramState::shared;
    const auto automatic =
        memory_class == MemoryClass::unified ? VramState::high : VramState::normal;
    switch (options.vram) {
        case VramFlag::low: return VramState::low;
        case VramFlag::none:
            return allows_partial_loading(device, options) ? VramState::no_vram : automatic;
        case VramFlag::high:
        case VramFlag::gpu_only: return VramState::high;
        case VramFlag::normal:
        case VramFlag::cpu: break;
    }
    return automatic;
}

Placement placement(const PlacementQuestion& question) {
    if (question.state == VramState::disabled) return {};
    const auto device = device_of(question);
    const bool stays = is_unified(question) || is_gpu_only(question);
    const auto waits = stays ? device : kCpu;
    return {.unet_offload = question.state == VramState::high ? device : waits,
            .unet_initial = unet_initial_device(question, Bytes{}),
            .text_encoder = text_encoder_device(question),
            .text_encoder_offload = waits,
            .vae = question.memory.options.vae_on_cpu ? kCpu : device,
            .vae_offload = waits,
            .intermediate = waits};
}

DeviceId unet_initial_device(const PlacementQuestion& question, Bytes size) {
    const auto device = device_of(question);
    switch (question.state) {
        case VramState::disabled:
        case VramState::no_vram: return kCpu;
        case VramState::high:
        case VramState::shared: return device;
        case VramState::low:
        case VramState::normal: break;
    }
    // one pool: built in its final place, straight from the file
    if (is_unified(question)) return device;
    if (!question.memory.options.smart_memory || !question.device_free || !question.host_free)
        return kCpu;
    const bool fits = *question.device_free > *question.host_free && size < *question.device_free;
    return fits ? device : kCpu;
}

DeviceId text_encoder_initial_device(DeviceId load, DeviceId offload, Bytes size,
                                     std::optional<Bytes> load_free,
                                     std::optional<Bytes> offload_free) {
    if (load == offload || size <= kSmallTextEncoder) return offload;
    if (load.kind == DeviceKind::mps) return load;
    if (!load_free || !offload_free) return offload;
    const bool has_room = as_double(*load_free) > 0.5 * as_double(*offload_free) &&
                          1.2 * as_double(size) < as_double(*load_free);
    return has_room ? load : offload;
}

DeviceId intermediate_device(const PlacementQuestion& question, Bytes size) {
    const auto usual = placement(question).intermediate;
    if (usual == kCpu || !is_unified(question) || is_gpu_only(question)) return usual;
    const bool is_small = question.device_free && size.times(4) <= *question.device_free;
    return is_small ? usual : kCpu;
}

}  // namespace ballast::machine
