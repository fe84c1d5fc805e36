#pragma once
// What the links of a workflow carry: one type per name of the node declarations.

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ballast/graph/value.hpp"
#include "ballast/runtime/nodes/loaded_models.hpp"
#include "ballast/runtime/sampling/conditioning/conditioning.hpp"
#include "ballast/runtime/sampling/latent.hpp"
#include "ballast/runtime/sampling/model_sampling.hpp"
#include "ballast/runtime/sampling/schedules/schedule.hpp"

namespace ballast::runtime::nodes {

inline Bytes held_bytes(const at::Tensor& tensor) {
    return Bytes{tensor.defined() ? tensor.nbytes() : 0};
}
inline Bytes held_bytes(const sampling::Latent& latent) {
    return held_bytes(latent.samples) + held_bytes(latent.noise_mask);
}
inline Bytes held_bytes(const sampling::Conditioning& list) {
    Bytes sum;
    for (const auto& entry : list)
        sum += held_bytes(entry.embedding) + held_bytes(entry.pooled) + held_bytes(entry.mask);
    return sum;
}
inline Bytes held_bytes(const sampling::Sigmas& sigmas) {
    return Bytes{sigmas.size() * sizeof(float)};
}

/// MODEL: shared weights and the rule by which they are sampled.
struct Model {
    std::shared_ptr<UNetModel> network;
    sampling::ModelSampling sampling;
};
/// CLIP: shared weights and the layer that guides the sampling (-1: the last).
struct Clip {
    std::shared_ptr<TextModel> network;
    int layer = -1;
};
/// VAE.
struct Vae {
    std::shared_ptr<VaeModel> network;
};
/// NOISE: where a run's noise comes from; no seed means zeros.
struct Noise {
    std::optional<std::uint64_t> seed;
};
/// GUIDER: a model with its texts. Without a negative side the scale is 1.
struct Guider {
    Model model;
    sampling::Conditioning positive;
    std::optional<sampling::Conditioning> negative;
    double cfg = 1.0;
};
/// SAMPLER, by name.
struct SamplerName {
    std::string name;
};
/// MULTIGPUDEVICE, by name.
struct DeviceName {
    std::string name;
};
inline Bytes held_bytes(const DeviceName&) { return {}; }
inline Bytes held_bytes(const Model&) { return {}; }
inline Bytes held_bytes(const Clip&) { return {}; }
inline Bytes held_bytes(const Vae&) { return {}; }
inline Bytes held_bytes(const Noise&) { return {}; }
inline Bytes held_bytes(const SamplerName&) { return {}; }
inline Bytes held_bytes(const Guider& guider) {
    return held_bytes(guider.positive) + (guider.negative ? held_bytes(*guider.negative) : Bytes{});
}

/// A value of type T on a link.
template <typename T, const char* Name>
class Carried final : public graph::Value {
public:
    explicit Carried(T content) : content_(std::move(content)) {}
    [[nodiscard]] const T& operator*() const { return content_; }
    [[nodiscard]] const T* operator->() const { return &content_; }
    [[nodiscard]] Bytes bytes() const override { return held_bytes(content_); }

private:
    T content_;
};

namespace names {
inline constexpr char kModel[] = "MODEL";
inline constexpr char kClip[] = "CLIP";
inline constexpr char kVae[] = "VAE";
inline constexpr char kConditioning[] = "CONDITIONING";
inline constexpr char kLatent[] = "LATENT";
inline constexpr char kImage[] = "IMAGE";
inline constexpr char kMask[] = "MASK";
inline constexpr char kSigmas[] = "SIGMAS";
inline constexpr char kSampler[] = "SAMPLER";
inline constexpr char kNoise[] = "NOISE";
inline constexpr char kGuider[] = "GUIDER";
inline constexpr char kDevice[] = "MULTIGPUDEVICE";
}  // namespace names

using ModelValue = Carried<Model, names::kModel>;
using ClipValue = Carried<Clip, names::kClip>;
using VaeValue = Carried<Vae, names::kVae>;
using ConditioningValue = Carried<sampling::Conditioning, names::kConditioning>;
using LatentValue = Carried<sampling::Latent, names::kLatent>;
using ImageValue = Carried<at::Tensor, names::kImage>;  ///< [B, H, W, C] fp32 in 0..1
using MaskValue = Carried<at::Tensor, names::kMask>;    ///< [B, H, W] fp32
using SigmasValue = Carried<sampling::Sigmas, names::kSigmas>;
using SamplerValue = Carried<SamplerName, names::kSampler>;
using NoiseValue = Carried<Noise, names::kNoise>;
using GuiderValue = Carried<Guider, names::kGuider>;
using DeviceNameValue = Carried<DeviceName, names::kDevice>;

/// The content of a linked input.
template <typename V>
const auto& input(const graph::NodeCall& call, std::string_view name) {
    return **call.value_as<V>(name);
}

/// A node's outputs, made from contents in order.
template <typename... V>
graph::NodeResult outputs(std::shared_ptr<V>... values) {
    return {.outputs = {std::move(values)...}, .ui = {}};
}

}  // namespace ballast::runtime::nodes
