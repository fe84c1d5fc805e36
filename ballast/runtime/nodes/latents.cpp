// Nodes that make and change latents.

#include <array>
#include <cmath>

#include "ballast/runtime/image/resample.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

/// Along one axis. Every autoencoder of this family has it, and the nodes here see none that they
/// could ask.
constexpr std::int64_t kPixelsPerCell = 8;

graph::NodeResult empty_latent(const Context&, const graph::NodeCall& call) {
    sampling::Latent latent;
    latent.samples = ops::zeros(
        {call.integer("batch_size"), sampling::kSd1Latent.channels,
         call.integer("height") / kPixelsPerCell, call.integer("width") / kPixelsPerCell},
        at::kFloat);
    return outputs(std::make_shared<LatentValue>(std::move(latent)));
}

graph::NodeResult upscaled(const graph::NodeCall& call, image::Size size, image::Crop crop) {
    auto latent = input<LatentValue>(call, "samples");
    latent.samples = image::resample(
        latent.samples, size, image::parse_method(call.text("upscale_method")).value(), crop);
    return outputs(std::make_shared<LatentValue>(std::move(latent)));
}

graph::NodeResult latent_upscale(const Context&, const graph::NodeCall& call) {
    const image::Size wanted{.width = call.integer("width"), .height = call.integer("height")};
    const auto& latent = input<LatentValue>(call, "samples");
    if (wanted == image::Size{}) return outputs(std::make_shared<LatentValue>(latent));
    // sides are meant in pixels; a side that is left out follows from the latent's aspect
    const auto pixels = image::intended_size(
        wanted, {.width = latent.samples.size(-1), .height = latent.samples.size(-2)}, 64);
    return upscaled(
        call, {.width = pixels.width / kPixelsPerCell, .height = pixels.height / kPixelsPerCell},
        image::parse_crop(call.text("crop")).value());
}

graph::NodeResult latent_upscale_by(const Context&, const graph::NodeCall& call) {
    const auto& samples = input<LatentValue>(call, "samples").samples;
    const double factor = call.number("scale_by");
    const auto scaled = [factor](std::int64_t size) {
        return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(size) * factor));
    };
    return upscaled(call, {.width = scaled(samples.size(-1)), .height = scaled(samples.size(-2))},
                    image::Crop::disabled);
}

graph::NodeResult set_noise_mask(const Context&, const graph::NodeCall& call) {
    auto latent = input<LatentValue>(call, "samples");
    const auto& mask = input<MaskValue>(call, "mask");
    latent.noise_mask = mask.reshape({-1, 1, mask.size(-2), mask.size(-1)});
    return outputs(std::make_shared<LatentValue>(std::move(latent)));
}

constexpr std::array kNodes{
    ImplementationRow{"EmptyLatentImage", &empty_latent},
    ImplementationRow{"LatentUpscale", &latent_upscale},
    ImplementationRow{"LatentUpscaleBy", &latent_upscale_by},
    ImplementationRow{"SetLatentNoiseMask", &set_noise_mask},
};

}  // namespace

std::span<const ImplementationRow> latent_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
