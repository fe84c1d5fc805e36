#pragma once
// The runtime with the tiny golden checkpoint, loaded, and short ways to sample with it.

#include "tests/support/session.hpp"
#include "tests/support/tiny_checkpoint.hpp"

namespace ballast::testing {

using graph::Json;
using graph::ValuePtr;

/// The model that comes with Ballast.
inline std::filesystem::path demo_checkpoint() {
    return std::filesystem::path(BALLAST_SOURCE_DIR) /
           "data/demo/models/checkpoints/ballast-demo.safetensors";
}

class TinyHost : public NodeHost {
public:
    explicit TinyHost(std::map<DeviceId, Bytes> limits = {})
        : TinyHost(graph::RuntimeOptions{}, std::move(limits)) {}
    explicit TinyHost(graph::RuntimeOptions base, std::map<DeviceId, Bytes> limits = {})
        : NodeHost(std::move(base), std::move(limits)) {
        add_model("checkpoints", golden_network("sd15-tiny.safetensors"), "tiny.safetensors");
    }

    std::vector<ValuePtr> load(const std::string& name = "tiny.safetensors") {
        return run("CheckpointLoaderSimple", {{"ckpt_name", Json(name)}});
    }
    ValuePtr encode(const ValuePtr& clip, const std::string& text) {
        return run("CLIPTextEncode", {{"clip", clip}, {"text", Json(text)}}, 1)[0];
    }
    ValuePtr empty_latent(std::int64_t side_px = 64, std::int64_t count = 1) {
        return run(
            "EmptyLatentImage",
            {{"width", Json(side_px)}, {"height", Json(side_px)}, {"batch_size", Json(count)}},
            1)[0];
    }
    /// Inputs of KSampler: two steps of Euler, seed 7, cfg 5.
    static Inputs ksampler(const ValuePtr& model, const ValuePtr& positive,
                           const ValuePtr& negative, const ValuePtr& latent) {
        return {{"model", model},
                {"positive", positive},
                {"negative", negative},
                {"latent_image", latent},
                {"seed", Json(7)},
                {"steps", Json(2)},
                {"cfg", Json(5.0)},
                {"sampler_name", Json("euler")},
                {"scheduler", Json("normal")},
                {"denoise", Json(1.0)}};
    }
    /// What the account says; all zero before the first use.
    [[nodiscard]] device::DeviceUse memory() { return session().report().devices[kCpu]; }
    /// What is held, but for the widening buffer, which stays for later calls.
    [[nodiscard]] Bytes held() {
        const auto use = memory();
        return use.now.minus_or_zero(use.tag(device::Tag::widened).now);
    }
};

/// Everything that one picture of the tiny checkpoint needs.
struct TinyScene {
    explicit TinyScene(TinyHost& on, const std::string& checkpoint = "tiny.safetensors")
        : host(&on) {
        const auto loaded = host->load(checkpoint);
        model = loaded[0];
        clip = loaded[1];
        vae = loaded[2];
        positive = host->encode(clip, "a red circle");
        negative = host->encode(clip, "blue");
        latent = host->empty_latent();
    }
    [[nodiscard]] NodeHost::Inputs inputs() const {
        return TinyHost::ksampler(model, positive, negative, latent);
    }
    [[nodiscard]] ValuePtr sample() const { return host->run("KSampler", inputs(), 1)[0]; }
    [[nodiscard]] ValuePtr decode(const ValuePtr& samples) const {
        return host->run("VAEDecode", {{"samples", samples}, {"vae", vae}}, 1)[0];
    }

    TinyHost* host;
    ValuePtr model, clip, vae, positive, negative, latent;
};

inline ValuePtr latent_of(at::Tensor samples) {
    runtime::sampling::Latent latent;
    latent.samples = std::move(samples);
    return std::make_shared<runtime::nodes::LatentValue>(std::move(latent));
}
inline const at::Tensor& samples_of(const ValuePtr& latent) {
    return content<runtime::nodes::LatentValue>(latent).samples;
}
/// The largest difference between two latents, as a share of the largest value.
inline float distance(const ValuePtr& a, const ValuePtr& b) {
    return samples_of(a).sub(samples_of(b)).abs().max().item<float>() /
           samples_of(b).abs().max().item<float>();
}
inline const at::Tensor& picture_of(const ValuePtr& image) {
    return content<runtime::nodes::ImageValue>(image);
}

}  // namespace ballast::testing
