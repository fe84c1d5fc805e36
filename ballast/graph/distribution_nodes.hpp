#pragma once
// The node classes that load models onto devices of the user's choice, as ComfyUI-MultiGPU has
// them: most are an ordinary loader with more inputs.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ballast::graph {

/// Which models a loader gives.
struct LoadedParts {
    bool network = false;
    bool text_encoder = false;
    bool autoencoder = false;
};

/// An ordinary loader that exists in two more forms.
struct WrappedLoader {
    std::string_view base_class;
    LoadedParts parts;
    /// What the DisTorch2 form calls the device that computes.
    std::string_view compute_input = "compute_device";
};

/// ControlNets go where networks go, picture encoders where text encoders go.
inline constexpr std::array<WrappedLoader, 11> kWrappedLoaders{{
    {"UNETLoader", {.network = true}},
    {"VAELoader", {.autoencoder = true}},
    {"CLIPLoader", {.text_encoder = true}, "device"},
    {"DualCLIPLoader", {.text_encoder = true}, "device"},
    {"TripleCLIPLoader", {.text_encoder = true}, "device"},
    {"QuadrupleCLIPLoader", {.text_encoder = true}, "device"},
    {"CLIPVisionLoader", {.text_encoder = true}, "device"},
    {"CheckpointLoaderSimple", {.network = true, .text_encoder = true, .autoencoder = true}},
    {"ControlNetLoader", {.network = true}},
    {"DiffControlNetLoader", {.network = true}},
    {"DiffusersLoader", {.network = true, .text_encoder = true, .autoencoder = true}},
}};

/// With a device, and with an allocation over several.
inline constexpr std::string_view kDeviceForm = "MultiGPU";
inline constexpr std::string_view kDistorch2Form = "DisTorch2MultiGPU";

// Those that are more than a wrapped loader.
inline constexpr std::string_view kAdvancedCheckpoint = "CheckpointLoaderAdvancedMultiGPU";
inline constexpr std::string_view kAdvancedCheckpointDistorch2 =
    "CheckpointLoaderAdvancedDisTorch2MultiGPU";
inline constexpr std::string_view kDeviceSelector = "DeviceSelectorMultiGPU";
inline constexpr std::string_view kLowPrecisionLoader = "UNetLoaderLP";

/// A class that is a wrapped loader, taken apart.
struct WrappedClass {
    const WrappedLoader* loader = nullptr;
    bool is_distorch2 = false;
};

/// Nothing for any other class.
std::optional<WrappedClass> wrapped_class(std::string_view class_type);

/// The ordinary loader that does the same on the default device; the class itself if there is none.
std::string_view base_class(std::string_view class_type);

/// All names, also of loaders that Ballast does not have yet.
std::vector<std::string> distribution_classes();

}  // namespace ballast::graph
