// Nodes between pictures and latents.

#include <algorithm>
#include <array>

#include "ballast/runtime/nodes/finite.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/stop.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

/// What is tried when memory runs out, in latent cells and in pixels.
constexpr vae::Tiles kSmallLatentTiles{.height = 64, .width = 64, .overlap = 16};
constexpr vae::Tiles kSmallPixelTiles{.height = 512, .width = 512, .overlap = 64};

/// The autoencoder of a call, ready to run.
class Autoencoder {
public:
    Autoencoder(const Context& context, const graph::NodeCall& call)
        : context_(&context),
          model_(input<VaeValue>(call, "vae").network),
          stop_(context.observer),
          weights_(model_->part.weights()) {}

    [[nodiscard]] const vae::Vae& network() const { return model_->network; }
    [[nodiscard]] nn::Forward forward(nn::LayerListener* listener = nullptr) const {
        return nn::Forward(weights_, &stop_, listener);
    }

    /// `whole`, and `in_tiles` when memory ran out.
    template <typename Whole, typename InTiles>
    at::Tensor with_retry(Whole&& whole, InTiles&& in_tiles) const {
        std::string why;
        try {
            return whole();
        } catch (const Failure& failure) {
            if (failure.error().code != Code::out_of_memory) throw;
            why = failure.error().why;
        }
        // outside the handler: what the failed attempt held is released by now
        context_->observer.warning("memory ran out; trying again in tiles (" + why + ")");
        return in_tiles();
    }

    /// Tells which layer it was when `pictures` are not finite although `latents` are; `again`
    /// repeats the work.
    template <typename Again>
    void check(const at::Tensor& latents, const at::Tensor& pictures, Again&& again) const {
        if (ops::is_finite(pictures) || !ops::is_finite(latents)) return;
        FirstNonFinite first;
        again(forward(&first));
        context_->observer.warning(non_finite_warning("the autoencoder", first));
    }

private:
    const Context* context_;
    std::shared_ptr<VaeModel> model_;
    ObservedStop stop_;
    WeightSource weights_;
};

graph::NodeResult encode(const Context& context, const graph::NodeCall& call) {
    const Autoencoder autoencoder(context, call);
    const auto& pictures = input<ImageValue>(call, "pixels");
    const auto forward = autoencoder.forward();
    sampling::Latent latent;
    latent.samples = autoencoder.with_retry(
        [&] { return autoencoder.network().encode(forward, pictures); },
        [&] { return autoencoder.network().encode_tiled(forward, pictures, kSmallPixelTiles); });
    return outputs(std::make_shared<LatentValue>(std::move(latent)));
}

graph::NodeResult decode(const Context& context, const graph::NodeCall& call) {
    const Autoencoder autoencoder(context, call);
    auto& bench = *context.session.bench();
    const Stopwatch stopwatch(bench.clock, bench.decode_seconds);
    const auto& latents = input<LatentValue>(call, "samples").samples;
    const auto forward = autoencoder.forward();
    auto pictures = autoencoder.with_retry(
        [&] { return autoencoder.network().decode(forward, latents); },
        [&] { return autoencoder.network().decode_tiled(forward, latents, kSmallLatentTiles); });
    autoencoder.check(latents, pictures, [&](const nn::Forward& again) {
        autoencoder.network().decode(again, latents);
    });
    return outputs(std::make_shared<ImageValue>(std::move(pictures)));
}

graph::NodeResult decode_tiled(const Context& context, const graph::NodeCall& call) {
    const Autoencoder autoencoder(context, call);
    auto& bench = *context.session.bench();
    const Stopwatch stopwatch(bench.clock, bench.decode_seconds);
    const auto tile = call.integer("tile_size");
    auto overlap = call.integer("overlap");
    if (tile < overlap * 4) overlap = tile / 4;
    const vae::Tiles tiles{.height = tile / 8, .width = tile / 8, .overlap = overlap / 8};
    const auto& latents = input<LatentValue>(call, "samples").samples;
    const auto in_tiles = [&](const nn::Forward& forward) {
        return autoencoder.network().decode_tiled(forward, latents, tiles);
    };
    auto pictures = in_tiles(autoencoder.forward());
    autoencoder.check(latents, pictures, in_tiles);
    return outputs(std::make_shared<ImageValue>(std::move(pictures)));
}

constexpr std::array kNodes{
    ImplementationRow{"VAEEncode", &encode},
    ImplementationRow{"VAEDecode", &decode},
    ImplementationRow{"VAEDecodeTiled", &decode_tiled},
};

}  // namespace

std::span<const ImplementationRow> autoencoding_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
