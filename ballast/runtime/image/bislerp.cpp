#include "ballast/runtime/image/bislerp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::image {

namespace {

/// Where one target lies: between two sources, `ratio` of the way from the first to the second.
struct Between {
    std::ptrdiff_t first = 0;
    std::ptrdiff_t second = 0;
    float ratio = 0;
};

/// Values 0, 1, ... (shifted by `shift`, but never beyond the last) resampled to the new length.
std::vector<float> positions(std::int64_t old_length, std::int64_t new_length, std::int64_t shift) {
    std::vector<float> places;
    places.reserve(static_cast<std::size_t>(old_length));
    for (std::int64_t i = 0; i < old_length; ++i)
        places.push_back(static_cast<float>(std::min(i + shift, old_length - 1)));
    const auto resized = ops::resize(ops::from_floats(places).view({1, 1, 1, old_length}), 1,
                                     new_length, ops::Resize::bilinear);
    const auto* first = resized.const_data_ptr<float>();
    return {first, first + new_length};
}

std::vector<Between> places_of(std::int64_t old_length, std::int64_t new_length) {
    const auto firsts = positions(old_length, new_length, 0);
    const auto seconds = positions(old_length, new_length, 1);
    std::vector<Between> places;
    places.reserve(firsts.size());
    for (std::size_t i = 0; i < firsts.size(); ++i)
        places.push_back({static_cast<std::ptrdiff_t>(firsts[i]),
                          static_cast<std::ptrdiff_t>(seconds[i]),
                          firsts[i] - std::floor(firsts[i])});
    return places;
}

float norm(const float* vector, std::ptrdiff_t channels, std::ptrdiff_t stride) {
    float sum = 0;
    for (std::ptrdiff_t c = 0; c < channels; ++c) sum += vector[c * stride] * vector[c * stride];
    return std::sqrt(sum);
}

/// Vectors whose channels lie `stride` apart.
struct Vectors {
    std::ptrdiff_t channels = 0;
    std::ptrdiff_t stride = 0;
};

/// Writes the vector between `a` and `b` to `out`.
void slerp(const float* a, const float* b, float ratio, Vectors in, float* out,
           std::ptrdiff_t out_stride) {
    constexpr float kNearly = 1e-5F;
    const float a_length = norm(a, in.channels, in.stride);
    const float b_length = norm(b, in.channels, in.stride);
    const auto direction = [stride = in.stride](const float* vector, float length,
                                                std::ptrdiff_t c) {
        return length == 0 ? 0.0F : vector[c * stride] / length;
    };
    float dot = 0;
    for (std::ptrdiff_t c = 0; c < in.channels; ++c)
        dot += direction(a, a_length, c) * direction(b, b_length, c);
    const float angle = std::acos(dot);
    const float sine = std::sin(angle);
    const float a_share = std::sin((1.0F - ratio) * angle) / sine;
    const float b_share = std::sin(ratio * angle) / sine;
    const float length = a_length * (1.0F - ratio) + b_length * ratio;
    for (std::ptrdiff_t c = 0; c < in.channels; ++c) {
        float value =
            (a_share * direction(a, a_length, c) + b_share * direction(b, b_length, c)) * length;
        if (dot > 1.0F - kNearly) value = a[c * in.stride];
        if (dot < kNearly - 1.0F)
            value = a[c * in.stride] * (1.0F - ratio) + b[c * in.stride] * ratio;
        out[c * out_stride] = value;
    }
}

at::Tensor along_width(const at::Tensor& source, std::int64_t width) {
    const auto places = places_of(source.size(3), width);
    auto target = ops::empty({source.size(0), source.size(1), source.size(2), width}, at::kFloat);
    const auto* from = source.const_data_ptr<float>();
    auto* to = target.mutable_data_ptr<float>();
    const std::ptrdiff_t channels = source.size(1);
    const std::ptrdiff_t rows = source.size(2);
    const std::ptrdiff_t old_width = source.size(3);
    for (std::ptrdiff_t n = 0; n < source.size(0); ++n)
        for (std::ptrdiff_t y = 0; y < rows; ++y) {
            const auto* row = from + (n * channels * rows + y) * old_width;
            auto* out = to + (n * channels * rows + y) * width;
            for (const auto& place : places)
                slerp(row + place.first, row + place.second, place.ratio,
                      {channels, rows * old_width}, out++, rows * width);
        }
    return target;
}

}  // namespace

at::Tensor bislerp(const at::Tensor& samples, Size size) {
    const auto wide = along_width(samples.contiguous(), size.width);
    const auto turned = along_width(wide.transpose(2, 3).contiguous(), size.height);
    return turned.transpose(2, 3).contiguous();
}

}  // namespace ballast::runtime::image
