#include "ballast/runtime/image/resample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ballast/runtime/image/bislerp.hpp"
#include "ballast/runtime/image/lanczos.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::image {

namespace {

constexpr std::int64_t kRows = 2;
constexpr std::int64_t kColumns = 3;

double real(std::int64_t value) { return static_cast<double>(value); }

/// To the nearest whole number, half to even.
std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

/// The middle of the source that has the aspect of `size`. The margins are the same on both sides.
at::Tensor cut_to_aspect(const at::Tensor& samples, Size size) {
    const auto width = samples.size(kColumns);
    const auto height = samples.size(kRows);
    const double old_aspect = real(width) / real(height);
    const double new_aspect = real(size.width) / real(size.height);
    std::int64_t x = 0;
    std::int64_t y = 0;
    if (old_aspect > new_aspect)
        x = rounded((real(width) - real(width) * (new_aspect / old_aspect)) / 2);
    else if (old_aspect < new_aspect)
        y = rounded((real(height) - real(height) * (old_aspect / new_aspect)) / 2);
    // an extreme aspect would leave nothing
    x = std::min(x, (width - 1) / 2);
    y = std::min(y, (height - 1) / 2);
    return samples.narrow(kRows, y, height - 2 * y).narrow(kColumns, x, width - 2 * x);
}

void check(const at::Tensor& samples, Size size) {
    constexpr std::int64_t kLongestSide = std::int64_t{1} << 20;
    constexpr std::int64_t kMostPixels = std::int64_t{1} << 31;
    Error error;
    error.code = Code::bad_value;
    error.what = "cannot change the size";
    if (samples.dim() != 4 || samples.numel() == 0)
        error.why = "this is no batch of pictures or latents";
    else if (size.width < 1 || size.height < 1)
        error.why = fmt::format("{} x {} has no pixels", size.width, size.height);
    else if (size.width > kLongestSide || size.height > kLongestSide ||
             size.width * size.height > kMostPixels)
        error.why = fmt::format("{} x {} is too large", size.width, size.height);
    else
        return;
    throw Failure(std::move(error));
}

template <typename T, std::size_t N>
std::optional<T> value_named(const std::array<std::pair<std::string_view, T>, N>& names,
                             std::string_view name) {
    for (const auto& [known, value] : names)
        if (known == name) return value;
    return std::nullopt;
}

}  // namespace

std::optional<Method> parse_method(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Method>, 6> kNames{
        {{"nearest-exact", Method::nearest_exact},
         {"bilinear", Method::bilinear},
         {"area", Method::area},
         {"bicubic", Method::bicubic},
         {"lanczos", Method::lanczos},
         {"bislerp", Method::bislerp}}};
    return value_named(kNames, name);
}

std::optional<Crop> parse_crop(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Crop>, 2> kNames{
        {{"disabled", Crop::disabled}, {"center", Crop::center}}};
    return value_named(kNames, name);
}

Size intended_size(Size wanted, Size source, std::int64_t least) {
    if (wanted.width == 0 && wanted.height == 0) return source;
    Size size = wanted;
    if (wanted.width != 0) size.width = std::max(wanted.width, least);
    if (wanted.height != 0) size.height = std::max(wanted.height, least);
    if (wanted.width == 0)
        size.width =
            std::max(least, rounded(real(source.width) * real(size.height) / real(source.height)));
    if (wanted.height == 0)
        size.height =
            std::max(least, rounded(real(source.height) * real(size.width) / real(source.width)));
    return size;
}

at::Tensor resample(const at::Tensor& samples, Size size, Method method, Crop crop) {
    check(samples, size);
    const auto source =
        (crop == Crop::center ? cut_to_aspect(samples, size) : samples).to(at::kFloat);
    const auto resized = [&](ops::Resize how) {
        return ops::resize(source, size.height, size.width, how);
    };
    const auto result = [&] {
        switch (method) {
            case Method::nearest_exact: return resized(ops::Resize::nearest_exact);
            case Method::bilinear: return resized(ops::Resize::bilinear);
            case Method::area: return resized(ops::Resize::area);
            case Method::bicubic: return resized(ops::Resize::bicubic);
            case Method::lanczos: return lanczos(source, size);
            case Method::bislerp: return bislerp(source, size);
        }
        return source;
    }();
    return result.to(samples.scalar_type());
}

}  // namespace ballast::runtime::image
