#pragma once
// Where randomness comes from: the noise that a run starts with, and the noise that stochastic
// samplers add at their steps. Always made on the CPU, so that a seed means the same picture on
// every device.

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace ballast::runtime::sampling {

/// Standard normal values of `shape` [B, ...] from a generator seeded with `seed`, of which only
/// the low 32 bits matter. With `batch_index` (one per picture of the batch), picture i gets the
/// `batch_index[i]`-th of a series of draws for one picture each, so that a picture of a batch can
/// be made again alone. Throws `Failure` (`bad_value`) when there are not B of them or one of them
/// is outside 0...65535.
at::Tensor initial_noise(at::IntArrayRef shape, std::uint64_t seed,
                         std::span<const std::int64_t> batch_index = {},
                         at::ScalarType type = at::kFloat);

/// Successive draws for the steps of one run, from a generator seeded with `seed` + 1.
class StepNoise {
public:
    /// Draws have the shape and type of `like`.
    StepNoise(const at::Tensor& like, std::uint64_t seed);
    at::Tensor draw();

private:
    at::Generator generator_;
    std::vector<std::int64_t> shape_;
    at::ScalarType type_;
};

}  // namespace ballast::runtime::sampling
