#include "ballast/runtime/sampling/latent.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr std::int64_t kChannelAxis = 1;

Failure bad_latent(std::string why, std::string hint = {}) {
    return Failure({.code = Code::bad_value,
                    .what = "cannot sample the latent",
                    .why = std::move(why),
                    .hint = std::move(hint)});
}

}  // namespace

at::Tensor LatentFormat::to_model(const at::Tensor& latent) const {
    return (latent - shift) * scale;
}

at::Tensor LatentFormat::from_model(const at::Tensor& model) const { return model / scale + shift; }

bool is_blank(const at::Tensor& latent) { return !latent.any().item<bool>(); }

at::Tensor with_channels(const at::Tensor& latent, std::int64_t channels) {
    if (!latent.defined() || latent.dim() != 4 || latent.numel() == 0)
        throw bad_latent(latent.defined()
                             ? fmt::format("its shape is [{}]", fmt::join(latent.sizes(), ", "))
                             : "it is empty",
                         "a latent picture is [batch, channels, height, width], none of them 0");
    const std::int64_t has = latent.size(kChannelAxis);
    if (has == channels) return latent;
    if (is_blank(latent))
        return repeated_to(latent.transpose(0, kChannelAxis), channels)
            .transpose(0, kChannelAxis)
            .contiguous();
    throw bad_latent(fmt::format("it has {} channels, and the model works on {}", has, channels),
                     "encode the picture with the autoencoder that belongs to the model");
}

at::Tensor latent_mask(const at::Tensor& mask, at::IntArrayRef shape) {
    if (mask.dim() < 2 || mask.numel() == 0)
        throw bad_latent(fmt::format("its mask has the shape [{}]", fmt::join(mask.sizes(), ", ")),
                         "a mask is [batch, height, width], none of them 0");
    const at::Tensor flat = mask.to(at::kFloat).reshape({-1, 1, mask.size(-2), mask.size(-1)});
    const at::Tensor resized = ops::resize(flat, shape[2], shape[3], ops::Resize::bilinear);
    return repeated_to(resized, shape[0]);
}

at::Tensor repeated_to(const at::Tensor& rows, std::int64_t count) {
    const std::int64_t has = rows.size(0);
    if (has == count) return rows;
    if (has > count) return rows.narrow(0, 0, count);
    std::vector<std::int64_t> repeats{(count + has - 1) / has};
    repeats.resize(static_cast<std::size_t>(rows.dim()), 1);
    return rows.repeat(repeats).narrow(0, 0, count);
}

}  // namespace ballast::runtime::sampling
