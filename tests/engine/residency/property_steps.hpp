#pragma once
// Steps as values: made from random numbers, made on a world, and printed. A new kind of step is
// one more row of the table.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/engine/residency/property_world.hpp"

namespace ballast::residency::property {

using Numbers = std::array<std::uint32_t, 3>;

struct StepKind {
    std::string_view name{};
    std::uint32_t weight = 1;  ///< how often, beside the others
    /// One for each number of the step: it lies below. All kinds allow zero.
    std::vector<std::uint32_t> ends{};
    std::function<void(World&, const Numbers&)> make{};
};

std::span<const StepKind> step_kinds();

struct Step {
    std::size_t kind = 0;
    Numbers numbers{};
    bool operator==(const Step&) const = default;
};

using Steps = std::vector<Step>;

Steps random_steps(std::uint64_t seed, std::size_t count);

/// One line for each: "world.load(0, 3, 1);".
std::string to_string(const Steps& steps);

/// Makes the steps on the world of `seed`. What the first step that went wrong broke, if any did.
std::optional<std::string> failure_of(std::uint64_t seed, const Steps& steps,
                                      Mistake mistake = Mistake::none);

}  // namespace ballast::residency::property
