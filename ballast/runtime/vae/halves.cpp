#include "ballast/runtime/vae/halves.hpp"

#include <string>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::vae {
namespace {

std::string block_name(std::string_view list, std::size_t level, int block) {
    return std::string(list) + "." + std::to_string(level) + ".block." + std::to_string(block);
}

std::int64_t deepest(const models::sd::VaeConfig& config) {
    return config.ch * config.ch_mult.back();
}

}  // namespace

Encoder::Encoder(const nn::Binder& binder, const models::sd::VaeConfig& config)
    : in_(binder, "conv_in", {}),
      middle_(binder, "mid", deepest(config), config.norm_groups),
      norm_(binder, "norm_out", config.norm_groups.of(deepest(config)), kNormEps,
            nn::GroupNorm::Then::silu),
      out_(binder, "conv_out", {}) {
    auto width = config.ch;
    for (std::size_t i = 0; i < config.ch_mult.size(); ++i) {
        auto& level = levels_.emplace_back();
        for (int j = 0; j < config.num_res_blocks; ++j) {
            const auto out = config.ch * config.ch_mult[i];
            level.blocks.emplace_back(binder, block_name("down", i, j), width, out,
                                      config.norm_groups);
            width = out;
        }
        if (i + 1 < config.ch_mult.size())
            level.down.emplace(binder, "down." + std::to_string(i) + ".downsample.conv",
                               nn::Conv2d::Shape{.stride = 2, .padding = 0});
    }
}

at::Tensor Encoder::operator()(const nn::Forward& forward, at::Tensor x) const {
    x = in_(forward, x);
    for (const auto& level : levels_) {
        for (const auto& block : level.blocks) x = block(forward, x);
        // padded at right and bottom only, unlike a convolution's own padding
        if (level.down) x = (*level.down)(forward, ops::pad(x, {0, 1, 0, 1}));
    }
    x = middle_(forward, std::move(x));
    return out_(forward, norm_(forward, x));
}

Decoder::Decoder(const nn::Binder& binder, const models::sd::VaeConfig& config)
    : in_(binder, "conv_in", {}),
      middle_(binder, "mid", deepest(config), config.norm_groups),
      norm_(binder, "norm_out", config.norm_groups.of(config.ch * config.ch_mult.front()), kNormEps,
            nn::GroupNorm::Then::silu),
      out_(binder, "conv_out", {}) {
    auto width = deepest(config);
    for (std::size_t i = config.ch_mult.size(); i-- > 0;) {
        auto& level = levels_.emplace_back();
        for (int j = 0; j <= config.num_res_blocks; ++j) {
            const auto out = config.ch * config.ch_mult[i];
            level.blocks.emplace_back(binder, block_name("up", i, j), width, out,
                                      config.norm_groups);
            width = out;
        }
        if (i > 0)
            level.up.emplace(binder, "up." + std::to_string(i) + ".upsample.conv",
                             nn::Conv2d::Shape{});
    }
}

at::Tensor Decoder::operator()(const nn::Forward& forward, at::Tensor x) const {
    x = in_(forward, x);
    x = middle_(forward, std::move(x));
    for (const auto& level : levels_) {
        for (const auto& block : level.blocks) x = block(forward, x);
        if (level.up) {
            x = ops::upsample_nearest(x, 2 * x.size(2), 2 * x.size(3));
            x = (*level.up)(forward, x);
        }
    }
    x = norm_(forward, x);
    return out_(forward, x);
}

}  // namespace ballast::runtime::vae
