#pragma once
// Where networks, text encoders, autoencoders and the tensors between nodes live when nobody says
// it for one of them: ComfyUI's VRAM states and the choices that follow.
//
// The tables are those of ComfyUI 0.8.0 with one difference: on a shared pool everything stays
// where it is, since a copy to the other side of the same memory frees nothing.

#include <string_view>

#include "ballast/engine/machine/budget.hpp"

namespace ballast::machine {

enum class VramState { disabled, no_vram, low, normal, high, shared };

/// "DISABLED", "NO_VRAM", "LOW", "NORMAL", "HIGH", "SHARED".
std::string_view to_string(VramState state);

/// From class and flags. Metal is always SHARED, an unused device DISABLED; what the user said
/// with --lowvram or --novram stands; a shared pool is HIGH by itself.
VramState vram_state(const DeviceProfile& device, MemoryClass memory_class,
                     const MemoryOptions& options);

/// Whether models may be loaded in part; DirectML cannot, unless told --lowvram.
bool allows_partial_loading(const DeviceProfile& device, const MemoryOptions& options);

/// What the choices depend on.
struct PlacementQuestion {
    const DeviceQuestion& memory;
    VramState state = VramState::normal;
    bool is_fp16_usable = true;  ///< on this device, by speed
    std::optional<Bytes> device_free{};
    std::optional<Bytes> host_free{};
};

/// A device for each thing that has one.
struct Placement {
    DeviceId unet_offload{};  ///< where a network waits
    DeviceId unet_initial{};  ///< where a network of no size would be built
    DeviceId text_encoder{};  ///< where text encoders compute
    DeviceId text_encoder_offload{};
    DeviceId vae{};  ///< where autoencoders compute
    DeviceId vae_offload{};
    DeviceId intermediate{};  ///< where latents and pictures wait between nodes
};

Placement placement(const PlacementQuestion& question);

/// Where a network of `size` bytes is built. On a card it goes there if more is free than on the
/// host and it fits.
DeviceId unet_initial_device(const PlacementQuestion& question, Bytes size);

/// Where a text encoder of `size` bytes is built, given where it computes and where it waits.
DeviceId text_encoder_initial_device(DeviceId load, DeviceId offload, Bytes size,
                                     std::optional<Bytes> load_free,
                                     std::optional<Bytes> offload_free);

/// Where a result of `size` bytes waits between nodes. On a shared pool it stays on the device up
/// to a quarter of what is free; a larger one becomes one host allocation.
DeviceId intermediate_device(const PlacementQuestion& question, Bytes size);

}  // namespace ballast::machine
