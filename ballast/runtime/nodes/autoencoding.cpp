// Nodes between pictures and latents.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ballast/runtime/nodes/finite.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/shortage.hpp"
#include "ballast/runtime/nodes/stop.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

/// Whole pictures, or tiles of them.
struct Extent {
    std::string how;
    std::optional<vae::Tiles> tiles;  ///< in latent cells
};

/// The size of a picture in latent cells.
struct Cells {
    std::int64_t height = 0;
    std::int64_t width = 0;
};

/// Of latents; nothing for what decoding will refuse.
Cells cells_of(const at::Tensor& samples) {
    if (samples.dim() != 4) return {};
    return {.height = samples.size(2), .width = samples.size(3)};
}

/// Whether the tiles are smaller than the picture, so that they need less than the whole.
bool is_cut_by(const vae::Tiles& tiles, Cells picture) {
    return tiles.height < picture.height || tiles.width < picture.width;
}

/// What is tried in turn. Tiles of 64 cells look like the whole; smaller ones show seams.
constexpr vae::Tiles kTiles{.height = 64, .width = 64, .overlap = 16};
std::vector<Extent> whole_or_tiles(Cells picture) {
    std::vector<Extent> extents{{"whole", std::nullopt}};
    if (is_cut_by(kTiles, picture)) extents.push_back({"in tiles", kTiles});
    return extents;
}

/// `tiles`, then ones with half and a quarter of its sides, as long as they make sense.
std::vector<Extent> smaller_and_smaller(vae::Tiles tiles, Cells picture) {
    constexpr std::int64_t kLeast = 8;
    constexpr int kHalvings = 2;
    std::vector<Extent> extents{{"in tiles", tiles}};
    for (int i = 0; i < kHalvings && std::min(tiles.height, tiles.width) >= 2 * kLeast; ++i) {
        tiles = {
            .height = tiles.height / 2, .width = tiles.width / 2, .overlap = tiles.overlap / 2};
        if (is_cut_by(tiles, picture))
            extents.push_back({fmt::format("in tiles of {} latent cells", tiles.width), tiles});
    }
    return extents;
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
        const Cells cells{.height = pictures.size(1) / factor(),
                          .width = pictures.size(2) / factor()};
        return first_that_fits(*context_, whole_or_tiles(cells),
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
                return extent.tiles ? network.decode_tiled(in, latents, *extent.tiles)
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
        models::StepShape shape{.height = std::max<std::int64_t>(cells.height, 1),
                                .width = std::max<std::int64_t>(cells.width, 1)};
        if (extent.tiles) {
            shape.height = std::min(shape.height, extent.tiles->height);
            shape.width = std::min(shape.width, extent.tiles->width);
        }
        const auto use = model_->part->use(shape);
        return use.compute([&] { return work(nn::Forward(use.weights(), &stop_, listener)); });
    }
    [[nodiscard]] vae::Tiles in_pixels(const vae::Tiles& cells) const {
        return {.height = cells.height * factor(),
                .width = cells.width * factor(),
                .overlap = kPixelOverlap};
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
    return decoded(context, call, Autoencoder(context, call),
                   whole_or_tiles(cells_of(latents_of(call))));
}

graph::NodeResult decode_tiled(const Context& context, const graph::NodeCall& call) {
    const Autoencoder autoencoder(context, call);
    const auto side = call.integer("tile_size");
    const auto overlap = std::min(call.integer("overlap"), side / 4);
    const auto cells = side / autoencoder.factor();
    return decoded(context, call, autoencoder,
                   smaller_and_smaller(
                       {.height = cells, .width = cells, .overlap = overlap / autoencoder.factor()},
                       cells_of(latents_of(call))));
}

constexpr std::array kNodes{
    ImplementationRow{"VAEEncode", &encode},
    ImplementationRow{"VAEDecode", &decode},
    ImplementationRow{"VAEDecodeTiled", &decode_tiled},
};

}  // namespace

std::span<const ImplementationRow> autoencoding_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
