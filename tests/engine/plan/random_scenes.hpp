#pragma once
// Random models, machines and allocation texts, the same for the same seed.

#include <gtest/gtest.h>

#include "tests/engine/plan/models.hpp"
#include "tests/support/random.hpp"

namespace ballast::plan::testing {

using ballast::testing::Random;

inline constexpr std::uint64_t kCases = 4000;

struct Scene {
    PlacementRequest request;
    AllocationContext context;
    std::string text;
};

inline std::vector<PlacementBlock> random_blocks(Random& random) {
    const std::vector<std::string> names{"attn", "mlp", "embed", "wte", "norm"};
    const auto unit =
        random.one_of(std::vector<std::uint64_t>{1, 1000, 1 << 20, 1ULL << 30U, 1ULL << 45U});
    const bool is_equal = random.once_in(4);
    const auto size = random.between(1, 2000) * unit;
    std::vector<PlacementBlock> blocks;
    for (auto count = random.below(40); count > 0; --count)
        blocks.push_back({.name = random.one_of(names) + std::to_string(count),
                          .bytes = Bytes{is_equal            ? size
                                         : random.once_in(8) ? random.below(3)
                                                             : random.below(2000) * unit},
                          .is_fetchable = !random.once_in(10)});
    if (random.once_in(3))
        blocks.push_back(
            {.name = "<loose>", .bytes = Bytes{random.below(2000) * unit}, .is_loose = true});
    return blocks;
}

inline AllocationContext random_machine(Random& random) {
    AllocationContext context;
    const auto cards = random.below(5);
    for (std::uint64_t i = 0; i < cards; ++i) {
        const auto kind = random.once_in(5) ? DeviceKind::xpu : DeviceKind::cuda;
        context.devices.push_back(
            {{kind, static_cast<int>(i)}, Bytes{random.between(1, 100'000'000'000)}});
    }
    context.compute = context.devices.empty() ? kCpu : context.devices.front().id;
    context.devices.push_back({kCpu, Bytes{random.between(1, 500'000'000'000)}});
    return context;
}

/// Digits with or without a fraction.
inline std::string random_number(Random& random, std::uint64_t most) {
    auto text = std::to_string(random.below(most + 1));
    if (random.once_in(2)) text += "." + random.text(random.below(5), "0123456789");
    return text;
}

inline std::string random_amount(Random& random, Mode mode) {
    const std::vector<std::string> units{"b", "kb", "mb", "gib", "GB", " m", "t"};
    if (random.once_in(12)) return "0";
    if (mode == Mode::bytes) return random_number(random, 3000) + random.one_of(units);
    if (mode == Mode::ratio) return random_number(random, 20) + "%";
    return random.once_in(9) ? "1" : "0." + random.text(random.between(1, 6), "0123456789");
}

inline std::string random_tail(Random& random, const AllocationContext& context) {
    return "#" + to_string(random.one_of(context.devices).id);
}

inline std::string random_entries(Random& random, const AllocationContext& context) {
    const auto mode = random.one_of(std::vector{Mode::bytes, Mode::ratio, Mode::fraction});
    auto devices = context.devices;
    random.shuffle(devices);
    devices.resize(random.between(1, devices.size()));
    const auto rest = random.once_in(2) ? random.below(devices.size()) : devices.size();
    std::string text;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const bool has_advice = mode == Mode::bytes && random.once_in(3);
        const auto amount = i == rest && !has_advice ? "" : random_amount(random, mode);
        const bool is_bare_zero = i == rest && amount == "0";
        text += to_string(devices[i].id) + "," + (is_bare_zero ? "" : amount) +
                (i == rest ? "*;" : ";");
    }
    return text + (random.once_in(3) ? "" : random_tail(random, context));
}

inline std::string random_text(Random& random, const AllocationContext& context) {
    if (random.once_in(12)) return random_tail(random, context);
    if (!random.once_in(4)) return random_entries(random, context);
    auto devices = context.devices;
    random.shuffle(devices);
    devices.resize(random.between(1, devices.size()));
    std::string donors;
    for (const auto& device : devices) donors += (donors.empty() ? "" : ",") + to_string(device.id);
    return random_tail(random, context) + ";" + random_number(random, 100) + ";" + donors;
}

/// A scene whose text can be read. (The few that cannot - all zero, above 100 % - are drawn again.)
inline Scene random_scene(Random& random) {
    Scene scene;
    scene.context = random_machine(random);
    scene.request.blocks = random_blocks(random);
    scene.request.role = random.once_in(3) ? ModelRole::text_encoder : ModelRole::network;
    scene.request.devices = scene.context.devices;
    for (;;) {
        scene.text = random_text(random, scene.context);
        const auto policy = parse_allocation(scene.text, scene.context);
        if (!policy) continue;
        scene.request.policy = *policy;
        return scene;
    }
}

inline std::string shown(std::uint64_t seed, const Scene& scene) {
    auto text = "seed " + std::to_string(seed) + ", text \"" + scene.text + "\", blocks";
    for (const auto& block : scene.request.blocks)
        text += " " + block.name + "=" + std::to_string(block.bytes.count()) +
                (block.is_fetchable ? "" : "!");
    text += ", devices";
    for (const auto& device : scene.context.devices)
        text += " " + to_string(device.id) + "=" +
                std::to_string(device.total.value_or(Bytes{}).count());
    return text;
}

template <typename Check>
void for_many_scenes(Check check) {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        Random random(seed);
        const auto scene = random_scene(random);
        SCOPED_TRACE(shown(seed, scene));
        check(scene, place(scene.request), random);
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace ballast::plan::testing
