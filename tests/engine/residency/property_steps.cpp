#include "tests/engine/residency/property_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <tuple>
#include <utility>

#include "tests/support/random.hpp"

namespace ballast::residency::property {
namespace {

template <std::size_t count>
std::array<std::uint32_t, count> first_of(const Numbers& numbers) {
    std::array<std::uint32_t, count> first{};
    std::copy_n(numbers.begin(), count, first.begin());
    return first;
}

template <typename... Parameters>
StepKind kind(std::string_view name, std::uint32_t weight, void (World::*step)(Parameters...),
              std::vector<std::uint32_t> ends) {
    return {.name = name,
            .weight = weight,
            .ends = std::move(ends),
            .make = [step](World& world, const Numbers& numbers) {
                const auto values = first_of<sizeof...(Parameters)>(numbers);
                std::apply([&](auto... each) { (world.*step)(each...); }, values);
            }};
}

}  // namespace

std::span<const StepKind> step_kinds() {
    static const std::vector<StepKind> kinds{
        kind("load", 24, &World::load, {kModels, 2 * kPlanKinds, 8}),
        kind("run", 12, &World::run, {kModels, 3}),
        kind("hold", 5, &World::hold, {kModels}),
        kind("let_go", 6, &World::let_go, {4}),
        kind("begin_prompt", 5, &World::begin_prompt, {}),
        kind("end_prompt", 6, &World::end_prompt, {}),
        kind("settle", 8, &World::settle, {}),
        kind("flag", 6, &World::flag, {kModels, 4, 4}),
        kind("request", 8, &World::request, {3, 3}),
        kind("eject", 4, &World::eject, {kModels, 3}),
        kind("unload_all", 1, &World::unload_all, {}),
        kind("clean_up", 1, &World::clean_up, {2, 2}),
        kind("empty_caches", 1, &World::empty_caches, {2}),
        kind("press", 4, &World::press, {3, 64}),
        kind("ease", 3, &World::ease, {}),
        kind("keep_results", 3, &World::keep_results, {32}),
        kind("fault", 4, &World::fault, {2, 6}),
        kind("expect", 3, &World::expect, {kModels, kModels}),
        kind("replace", 2, &World::replace, {kFiles}),
        kind("remove", 1, &World::remove, {kFiles}),
        kind("pass", 1, &World::pass, {15}),
    };
    return kinds;
}

Steps random_steps(std::uint64_t seed, std::size_t count) {
    ballast::testing::Random random(seed);
    const auto kinds = step_kinds();
    const auto all =
        std::accumulate(kinds.begin(), kinds.end(), 0U,
                        [](std::uint32_t sum, const StepKind& each) { return sum + each.weight; });
    Steps steps(count);
    for (auto& step : steps) {
        for (auto left = random.below(all); left >= kinds[step.kind].weight; ++step.kind)
            left -= kinds[step.kind].weight;
        const auto& ends = kinds[step.kind].ends;
        for (std::size_t i = 0; i < ends.size(); ++i)
            step.numbers[i] = static_cast<std::uint32_t>(random.below(ends[i]));
    }
    return steps;
}

std::string to_string(const Steps& steps) {
    std::string text;
    for (const auto& step : steps) {
        const auto& kind = step_kinds()[step.kind];
        const std::span numbers{step.numbers.data(), kind.ends.size()};
        text += fmt::format("world.{}({});\n", kind.name, fmt::join(numbers, ", "));
    }
    return text;
}

std::optional<std::string> failure_of(std::uint64_t seed, const Steps& steps, Mistake mistake) {
    World world(seed, mistake);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto& step = steps[i];
        try {
            step_kinds()[step.kind].make(world, step.numbers);
            world.check();
        } catch (const std::exception& thrown) {
            return fmt::format("step {} threw: {}", i, thrown.what());
        }
        if (!world.faults().empty())
            return fmt::format("after step {}: {}", i, fmt::join(world.faults(), "; "));
    }
    return std::nullopt;
}

}  // namespace ballast::residency::property
