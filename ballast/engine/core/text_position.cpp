#include "ballast/engine/core/text_position.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ballast {

std::string line_and_column(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, std::min(offset, text.size()));
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const auto line_start = before.rfind('\n');
    const auto column =
        before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
    return fmt::format("line {}, column {}", lines + 1, column);
}

}  // namespace ballast
