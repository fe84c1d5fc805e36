// Nodes between pictures and latents.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ballast/graph/smaller_steps.hpp"
#include "ballast/runtime/nodes/finite.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/shortage.hpp"
#include "ballast/runtime/nodes/stop.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

using graph::Extent;

/// The size of pictures in latent cells, and how many there are.
struct Cells {
    std::int64_t batch = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
};

/// Of latents; nothing for what decoding will refuse.
Cells cells_of(const at::Tensor& samples) {
    if (samples.dim() != 4) return {};
    return {.batch = samples.size(0), .height = samples.size(2), .width = samples.size(3)};
}

vae::Tiles tiles_of(const graph::Tiles& tiles) {
    return {.height = tiles.side, .width = tiles.side, .overlap = tiles.overlap};
}

/// The autoencoder of a call, ready to run.
class Autoencoder {
public:
    Autoencoder(const Context& context, const graph::NodeCall& call)
        : context_(&context),
          model_(input<VaeValue>(call, "vae").network),
          stop_(context.observer) {}

    /// Pixels per latent cell along one axis.
    [[nodiscard]] std::int64_t factor() const { return model_->config.factor(); }

    [[nodiscard]] at::Tensor encode(const at::Tensor& pictures) const {
        const Cells cells{.batch = pictures.size(0),
                          .height = pictures.size(1) / factor(),
                          .width = pictures.size(2) / factor()};
        return first_that_fits(*context_, graph::whole_or_tiles(cells.height, cells.width),
                               [&](const Extent& extent) {
                                   return with_weights(cells, extent, nullptr, [&](const auto& in) {
                                       const auto& network = model_->network;
                                       return extent.tiles
                                                  ? network.encode_tiled(in, pictures,
                                                                         in_pixels(*extent.tiles))
                                                  : network.encode(in, pictures);
                                   });
                               })
            .result;
    }

    /// The first of `extents` for which memory suffices. Tells which layer it was when the pictures
    /// are not finite although `latents` are.
    [[nodiscard]] at::Tensor decode(const at::Tensor& latents,
                                    const std::vector<Extent>& extents) const {
        const auto decoded = [&](const Extent& extent, nn::LayerListener* listener) {
            return with_weights(cells_of(latents), extent, listener, [&](const auto& in) {
                const auto& network = model_->network;
                return extent.tiles ? network.decode_tiled(in, latents, tiles_of(*extent.tiles))
                                    : network.decode(in, latents);
            });
        };
        auto done = first_that_fits(*context_, extents,
                                    [&](const Extent& extent) { return decoded(extent, nullptr); });
        if (!ops::is_finite(done.result) && ops::is_finite(latents))
            explain_non_finite(*context_, "the autoencoder",
                               [&](nn::LayerListener& first) { decoded(done.way, &first); });
        return std::move(done.result);
    }

private:
    /// Calls `work` with the weights in reach, for pictures of `cells` or tiles of them.
    template <typename Work>
    [[nodiscard]] at::Tensor with_weights(Cells cells, const Extent& extent,
                                          nn::LayerListener* listener, const Work& work) const {
        const models::StepShape whole{.batch = std::max<std::int64_t>(cells.batch, 1),
                                      .height = std::max<std::int64_t>(cells.height, 1),
                                      .width = std::max<std::int64_t>(cells.width, 1)};
        const auto use = model_->part->use(graph::within(whole, extent));
        return use.compute([&] { return work(nn::Forward(use.weights(), &stop_, listener)); });
    }
    [[nodiscard]] vae::Tiles in_pixels(const graph::Tiles& cells) const {
        return tiles_of({.side = cells.side * factor(), .overlap = kPixelOverlap});
    }

    /// The reference's: half of what the overlap of decoded tiles is in pixels.
    static constexpr std::int64_t kPixelOverlap = 64;

    const Context* context_;
    std::shared_ptr<VaeModel> model_;
    ObservedStop stop_;
};

graph::NodeResult encode(const Context& context, const graph::NodeCall& call) {
    const Autoencoder autoencoder(context, call);
    sampling::Latent latent;
    latent.samples = autoencoder.encode(input<ImageValue>(call, "pixels"));
    return outputs(std::make_shared<LatentValue>(std::move(latent)));
}

const at::Tensor& latents_of(const graph::NodeCall& call) {
    return input<LatentValue>(call, "samples").samples;
}

graph::NodeResult decoded(const Context& context, const graph::NodeCall& call,
                          const Autoencoder& autoencoder, const std::vector<Extent>& extents) {
    auto& bench = *context.session.bench();
    const Stopwatch stopwatch(bench.clock, bench.record, Phase::decode);
    return outputs(std::make_shared<ImageValue>(autoencoder.decode(latents_of(call), extents)));
}

graph::NodeResult decode(const Context& context, const graph::NodeCall& call) {
    const auto cells = cells_of(latents_of(call));
    return decoded(context, call, Autoencoder(context, call),
                   graph::whole_or_tiles(cells.height, cells.width));
}

graph::NodeResult decode_tiled(const Context& context, const graph::NodeCall& call) {
    const Autoencoder autoencoder(context, call);
    const auto side = call.integer("tile_size");
    const auto overlap = std::min(call.integer("overlap"), side / 4);
    const auto cells = cells_of(latents_of(call));
    const graph::Tiles tiles{.side = side / autoencoder.factor(),
                             .overlap = overlap / autoencoder.factor()};
    return decoded(context, call, autoencoder,
                   graph::smaller_and_smaller(tiles, cells.height, cells.width));
}

constexpr std::array kNodes{
    ImplementationRow{"VAEEncode", &encode},
    ImplementationRow{"VAEDecode", &decode},
    ImplementationRow{"VAEDecodeTiled", &decode_tiled},
};

}  // namespace

std::span<const ImplementationRow> autoencoding_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
