#include "ballast/runtime/image/pixels.hpp"

#include <fmt/format.h>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::image {

namespace {

constexpr std::size_t kColours = 3;

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace

std::uint8_t to_byte(float value) {
    const float scaled = value * 255.0F;
    if (!(scaled > 0.0F)) return 0;  // nan, too
    return scaled >= 255.0F ? std::uint8_t{255} : static_cast<std::uint8_t>(scaled);
}

Raster to_raster(const at::Tensor& picture) {
    if (picture.dim() != 3 || picture.size(2) < signed_size(kColours))
        throw Failure({.code = Code::internal,
                       .what = "cannot turn the tensor into a picture",
                       .why = fmt::format("its shape is no [height, width, 3], it has {} axes",
                                          picture.dim())});
    const auto values = picture.to(at::kFloat).contiguous();
    Raster raster;
    raster.height = static_cast<std::size_t>(values.size(0));
    raster.width = static_cast<std::size_t>(values.size(1));
    raster.bytes.resize(raster.height * raster.row_bytes());
    const auto stride = static_cast<std::size_t>(values.size(2));
    const auto* from = values.const_data_ptr<float>();
    for (std::size_t i = 0; i < raster.width * raster.height; ++i)
        for (std::size_t c = 0; c < kColours; ++c)
            raster.bytes[i * kColours + c] = to_byte(from[i * stride + c]);
    return raster;
}

at::Tensor image_of(const Raster& raster) {
    auto image = ops::empty(
        {1, signed_size(raster.height), signed_size(raster.width), signed_size(kColours)},
        at::kFloat);
    auto* to = image.mutable_data_ptr<float>();
    for (std::size_t i = 0; i < raster.width * raster.height; ++i)
        for (std::size_t c = 0; c < kColours; ++c)
            to[i * kColours + c] =
                static_cast<float>(raster.bytes[i * raster.channels + c]) / 255.0F;
    return image;
}

at::Tensor mask_of(const Raster& raster) {
    constexpr std::int64_t kPlaceholder = 64;
    if (raster.channels == kColours) return ops::zeros({1, kPlaceholder, kPlaceholder}, at::kFloat);
    auto mask = ops::empty({1, signed_size(raster.height), signed_size(raster.width)}, at::kFloat);
    auto* to = mask.mutable_data_ptr<float>();
    for (std::size_t i = 0; i < raster.width * raster.height; ++i)
        to[i] = 1.0F - static_cast<float>(raster.bytes[i * raster.channels + kColours]) / 255.0F;
    return mask;
}

}  // namespace ballast::runtime::image
