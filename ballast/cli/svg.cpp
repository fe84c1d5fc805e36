#include "ballast/cli/svg.hpp"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/core/utf8.hpp"

namespace ballast::cli::svg {
namespace {

/// "12.05", "12": pixels.
std::string number(Length length) {
    const auto whole = length / 100;
    const auto rest = length % 100;
    return rest == 0 ? fmt::format("{}", whole) : fmt::format("{}.{:02}", whole, rest);
}

}  // namespace

std::string escaped(std::string_view text) {
    const auto visible = ballast::escaped(text);
    std::string safe;
    for (std::size_t i = 0; i < visible.size();) {
        const auto [point, length] = first_code_point(std::string_view(visible).substr(i));
        switch (point) {
            case U'&': safe += "&amp;"; break;
            case U'<': safe += "&lt;"; break;
            case U'>': safe += "&gt;"; break;
            case U'"': safe += "&quot;"; break;
            case U'\'': safe += "&#39;"; break;
            case 0xFFFE:
            case 0xFFFF: append_utf8(safe, 0xFFFD); break;
            default: safe.append(visible, i, length);
        }
        i += length;
    }
    return safe;
}

std::string shortened(std::string_view text, std::size_t most) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < text.size(); i += first_code_point(text.substr(i)).length)
        begins.push_back(i);
    if (begins.size() <= most) return std::string(text);
    return "\u2026" + std::string(text.substr(begins[begins.size() - (most - 1)]));
}

void Canvas::box(const Box& box, std::string_view style, std::string_view tip,
                 std::string_view attributes) {
    const auto out = std::back_inserter(shapes_);
    fmt::format_to(out, R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}"{}{})",
                   number(box.x), number(box.y), number(box.width), number(box.height), style,
                   attributes.empty() ? "" : " ", attributes);
    if (tip.empty())
        shapes_ += "/>\n";
    else
        fmt::format_to(out, "><title>{}</title></rect>\n", escaped(tip));
}

void Canvas::line(Length x1, Length y1, Length x2, Length y2, std::string_view style) {
    fmt::format_to(std::back_inserter(shapes_),
                   R"(<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>)"
                   "\n",
                   number(x1), number(y1), number(x2), number(y2), style);
}

void Canvas::text(Length x, Length y, std::string_view style, std::string_view text) {
    fmt::format_to(std::back_inserter(shapes_),
                   R"(<text x="{}" y="{}" class="{}">{}</text>)"
                   "\n",
                   number(x), number(y), style, escaped(text));
}

std::string Canvas::document(Length width, Length height, std::string_view title,
                             std::string_view style_sheet) const {
    return fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">
<title>{2}</title>
<style>
{3}</style>
{4}</svg>
)",
        number(width), number(height), escaped(title), style_sheet, shapes_);
}

}  // namespace ballast::cli::svg
