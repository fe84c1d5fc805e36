#include "ballast/runtime/image/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "ballast/runtime/image/pixels.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::image {

namespace {

constexpr double kLobes = 3;
constexpr int kFractionBits = 22;  ///< of a weight; leaves room for 8-bit values and overshoot

double sinc(double x) {
    if (x == 0) return 1;
    const double angle = x * std::numbers::pi;
    return std::sin(angle) / angle;
}

double window(double x) { return x >= -kLobes && x < kLobes ? sinc(x) * sinc(x / kLobes) : 0; }

/// Which sources make one target, and their weights in fixed point.
struct Taps {
    std::size_t first = 0;
    std::vector<std::int32_t> weights;
};

std::int32_t fixed_point(double weight) {
    return static_cast<std::int32_t>(std::lround(weight * (1 << kFractionBits)));
}

/// Taps of every target along one axis.
std::vector<Taps> taps_of(std::size_t old_length, std::size_t new_length) {
    const double scale = static_cast<double>(old_length) / static_cast<double>(new_length);
    const double stretch = std::max(scale, 1.0);
    const double reach = kLobes * stretch;
    std::vector<Taps> all(new_length);
    std::vector<double> weights;
    for (std::size_t i = 0; i < new_length; ++i) {
        const double centre = (static_cast<double>(i) + 0.5) * scale;
        const auto first = static_cast<std::size_t>(std::max(centre - reach + 0.5, 0.0));
        const auto end = std::min(static_cast<std::size_t>(centre + reach + 0.5), old_length);
        weights.clear();
        double sum = 0;
        for (std::size_t k = first; k < end; ++k) {
            weights.push_back(window((static_cast<double>(k) - centre + 0.5) * (1.0 / stretch)));
            sum += weights.back();
        }
        all[i].first = first;
        for (const double weight : weights)
            all[i].weights.push_back(fixed_point(sum != 0 ? weight / sum : weight));
    }
    return all;
}

/// One channel of one picture.
struct Plane {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::uint8_t> bytes;
};

/// The weighted sum of values `step` apart.
std::uint8_t filtered(const std::uint8_t* values, std::size_t step, const Taps& taps) {
    std::int32_t sum = 1 << (kFractionBits - 1);
    const auto* value = values + taps.first * step;
    for (const auto weight : taps.weights) {
        sum += *value * weight;
        value += step;
    }
    return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

Plane with_width(const Plane& source, const std::vector<Taps>& taps) {
    Plane target{taps.size(), source.height, {}};
    target.bytes.reserve(target.width * target.height);
    for (std::size_t y = 0; y < source.height; ++y)
        for (const auto& tap : taps)
            target.bytes.push_back(filtered(source.bytes.data() + y * source.width, 1, tap));
    return target;
}

Plane with_height(const Plane& source, const std::vector<Taps>& taps) {
    Plane target{source.width, taps.size(), {}};
    target.bytes.reserve(target.width * target.height);
    for (const auto& tap : taps)
        for (std::size_t x = 0; x < source.width; ++x)
            target.bytes.push_back(filtered(source.bytes.data() + x, source.width, tap));
    return target;
}

}  // namespace

at::Tensor lanczos(const at::Tensor& samples, Size size) {
    const auto source = samples.contiguous();
    const auto old_width = static_cast<std::size_t>(source.size(3));
    const auto old_height = static_cast<std::size_t>(source.size(2));
    const auto columns = taps_of(old_width, static_cast<std::size_t>(size.width));
    const auto rows = taps_of(old_height, static_cast<std::size_t>(size.height));
    auto result = ops::empty({source.size(0), source.size(1), size.height, size.width}, at::kFloat);
    const auto* from = source.const_data_ptr<float>();
    auto* to = result.mutable_data_ptr<float>();
    const auto planes = static_cast<std::size_t>(source.size(0) * source.size(1));
    for (std::size_t i = 0; i < planes; ++i) {
        Plane plane{old_width, old_height, {}};
        plane.bytes.resize(old_width * old_height);
        std::transform(from, from + plane.bytes.size(), plane.bytes.begin(), to_byte);
        from += plane.bytes.size();
        plane = with_height(with_width(plane, columns), rows);
        to = std::transform(plane.bytes.begin(), plane.bytes.end(), to,
                            [](std::uint8_t value) { return static_cast<float>(value) / 255.0F; });
    }
    return result;
}

}  // namespace ballast::runtime::image
