#pragma once
// The models and machines of the worked examples, and words to speak about placements in.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ballast/engine/plan/distorch2.hpp"
#include "ballast/engine/plan/placement.hpp"

namespace ballast::plan::testing {

using Homes = std::map<std::string, std::vector<std::string>>;

inline Bytes mib(std::uint64_t count) { return Bytes{count << 20U}; }
inline Bytes gib(std::uint64_t count) { return Bytes{count << 30U}; }
/// Tenths, hundredths: 23.56 GiB is gib_hundredths(2356).
inline Bytes gib_hundredths(std::uint64_t count) { return Bytes{(count << 30U) / 100}; }

inline std::vector<PlacementBlock> equal_blocks(std::size_t count, Bytes size,
                                                const std::string& letter = "B") {
    std::vector<PlacementBlock> blocks;
    for (std::size_t i = 0; i < count; ++i)
        blocks.push_back({.name = letter + std::to_string(i), .bytes = size});
    return blocks;
}

/// Ten blocks of 1 GiB.
inline std::vector<PlacementBlock> model_1() { return equal_blocks(10, gib(1)); }

/// Blocks of many sizes, one of them tiny.
inline std::vector<PlacementBlock> model_2() {
    std::vector<PlacementBlock> blocks{{.name = "E", .bytes = mib(600)}};
    for (int i = 0; i < 8; ++i) {
        blocks.push_back({.name = "A" + std::to_string(i), .bytes = mib(300)});
        blocks.push_back({.name = "F" + std::to_string(i), .bytes = mib(700)});
    }
    blocks.push_back({.name = "O", .bytes = mib(100)});
    blocks.push_back({.name = "n", .bytes = Bytes{mib(1).count() / 10}});
    return blocks;
}

/// A text encoder.
inline std::vector<PlacementBlock> model_3() {
    std::vector<PlacementBlock> blocks{{.name = "token_embedding", .bytes = mib(500)},
                                       {.name = "position_embedding", .bytes = mib(2)}};
    for (int i = 0; i < 8; ++i)
        blocks.push_back({.name = "L" + std::to_string(i), .bytes = mib(250)});
    blocks.push_back({.name = "final_ln", .bytes = Bytes{mib(1).count() / 20}});
    return blocks;
}

/// With a block that cannot leave the compute device.
inline std::vector<PlacementBlock> model_4() {
    return {{.name = "pos_param", .bytes = mib(900), .is_fetchable = false},
            {.name = "A", .bytes = mib(1000)},
            {.name = "ln", .bytes = Bytes{mib(1).count() / 20}},
            {.name = "B", .bytes = mib(1000)},
            {.name = "C", .bytes = mib(1000)}};
}

inline AllocationContext machine(std::vector<PresentDevice> accelerators, Bytes host) {
    AllocationContext context{.devices = std::move(accelerators)};
    context.compute = context.devices.empty() ? kCpu : context.devices.front().id;
    context.devices.push_back({kCpu, host});
    return context;
}

inline DeviceId cuda(int index) { return {DeviceKind::cuda, index}; }

inline AllocationContext system_a() {
    return machine({{cuda(0), gib(24)}, {cuda(1), gib(24)}}, gib(64));
}
inline AllocationContext system_b() {
    return machine({{cuda(0), gib_hundredths(2356)}, {cuda(1), gib_hundredths(2356)}},
                   gib_hundredths(9398));
}
inline AllocationContext system_w() { return machine({{cuda(0), gib(24)}}, gib(512)); }
inline AllocationContext system_t() {
    return machine({{cuda(0), gib(24)}, {cuda(1), gib(4)}}, gib(64));
}

inline Policy policy_of(const std::string& text, const AllocationContext& context) {
    const auto policy = parse_allocation(text, context);
    EXPECT_TRUE(policy.has_value()) << text << ": " << (policy ? "" : to_string(policy.error()));
    return policy.value_or(Policy{});
}

/// The names on each device, in model order.
inline Homes named(const std::vector<PlacementBlock>& blocks, const std::vector<DeviceId>& homes) {
    Homes found;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        found[to_string(homes.at(i))].push_back(blocks[i].name);
    return found;
}

/// {"B0", "B1", "B2"} from "B0 B1 B2".
inline std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto stop = std::min(text.find(' ', begin), text.size());
        if (stop > begin) found.push_back(text.substr(begin, stop - begin));
        begin = stop + 1;
    }
    return found;
}

}  // namespace ballast::plan::testing
