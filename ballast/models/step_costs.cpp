#include "ballast/models/step_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace ballast::models {

Result<void> check(const StepShape& shape) {
    struct Size {
        std::string_view name;
        std::int64_t value;
        std::int64_t most;
    };
    const std::array sizes{Size{"batch", shape.batch, std::int64_t{1} << 30},
                           Size{"height", shape.height, std::int64_t{1} << 16},
                           Size{"width", shape.width, std::int64_t{1} << 16},
                           Size{"tokens", shape.tokens, std::int64_t{1} << 20},
                           Size{"sides", shape.sides, 2},
                           Size{"element_bytes", shape.element_bytes, 8}};
    for (const auto& size : sizes)
        if (size.value < 1 || size.value > size.most)
            return fail({.code = Code::bad_value,
                         .what = "cannot tell what a step costs",
                         .why = fmt::format("{} is {}", size.name, size.value),
                         .place = {.key = std::string(size.name)},
                         .hint = fmt::format("give 1 to {}", size.most)});
    return {};
}

std::uint64_t StepCosts::flops() const {
    std::uint64_t sum = 0;
    for (const auto& block : blocks)
        sum += std::min(block.flops, std::numeric_limits<std::uint64_t>::max() - sum);
    return sum;
}

void set_costs(std::vector<plan::PlanBlock>& blocks, const StepCosts& costs) {
    const auto count = std::min(blocks.size(), costs.blocks.size());
    for (std::size_t i = 0; i < count; ++i) {
        blocks[i].flops = costs.blocks[i].flops;
        blocks[i].activation_bytes = costs.blocks[i].activation_bytes;
    }
}

}  // namespace ballast::models
