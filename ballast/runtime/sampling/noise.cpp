#include "ballast/runtime/sampling/noise.hpp"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::sampling {

namespace {

/// Every draw up to the largest index is made, so there must be a limit to it.
constexpr std::int64_t kMaxBatchIndex = 65535;

void check_batch_index(std::span<const std::int64_t> batch_index, std::int64_t batch) {
    const Error error{
        .code = Code::bad_value, .what = "cannot make the noise", .place = {.key = "batch_index"}};
    if (std::ssize(batch_index) != batch) {
        Error wrong_count = error;
        wrong_count.why = fmt::format("{} indices are given for a batch of {} pictures",
                                      batch_index.size(), batch);
        throw Failure(std::move(wrong_count));
    }
    for (const std::int64_t index : batch_index) {
        if (index >= 0 && index <= kMaxBatchIndex) continue;
        Error out_of_range = error;
        out_of_range.why = fmt::format("{} is outside 0...{}", index, kMaxBatchIndex);
        throw Failure(std::move(out_of_range));
    }
}

}  // namespace

at::Tensor initial_noise(at::IntArrayRef shape, std::uint64_t seed,
                         std::span<const std::int64_t> batch_index, at::ScalarType type) {
    const at::Generator generator = ops::cpu_generator(seed);
    if (batch_index.empty() || shape.empty()) return ops::normal(shape, generator, type);
    check_batch_index(batch_index, shape[0]);
    std::vector<std::int64_t> one = shape.vec();
    one[0] = 1;
    std::vector<at::Tensor> chosen(batch_index.size());
    const std::int64_t last = *std::max_element(batch_index.begin(), batch_index.end());
    for (std::int64_t draw = 0; draw <= last; ++draw) {
        const at::Tensor noise = ops::normal(one, generator, type);
        for (std::size_t i = 0; i < batch_index.size(); ++i)
            if (batch_index[i] == draw) chosen[i] = noise;
    }
    return ops::cat(chosen, 0);
}

StepNoise::StepNoise(const at::Tensor& like, std::uint64_t seed)
    : generator_(ops::cpu_generator(seed + 1)),
      shape_(like.sizes().vec()),
      type_(like.scalar_type()) {}

at::Tensor StepNoise::draw() { return ops::normal(shape_, generator_, type_); }

}  // namespace ballast::runtime::sampling
