#pragma once
// The few shapes of SVG that charts are made of. Lengths are hundredths of a pixel, so that no
// picture depends on how a machine rounds.

#include <cstdint>
#include <string>
#include <string_view>

namespace ballast::cli::svg {

using Length = std::uint64_t;

/// So many pixels.
constexpr Length px(std::uint64_t pixels) { return pixels * 100; }

/// `text` between tags or in quotes: no markup, nothing that XML forbids.
std::string escaped(std::string_view text);

/// The last `most` characters of `text`, with "…" in place of what is left out.
std::string shortened(std::string_view text, std::size_t most);

struct Box {
    Length x = 0;
    Length y = 0;
    Length width = 0;
    Length height = 0;
};

/// Gathers shapes, each with a class that a style sheet colours.
class Canvas {
public:
    /// `tip`, where there is one, appears when the pointer rests on the shape. `attributes` are
    /// further ones, as they stand.
    void box(const Box& box, std::string_view style, std::string_view tip = {},
             std::string_view attributes = {});
    void line(Length x1, Length y1, Length x2, Length y2, std::string_view style);
    /// `y` is that of the base line; `style` may hold several classes.
    void text(Length x, Length y, std::string_view style, std::string_view text);

    /// The document, `width` by `height`, with a name for readers that do not see it.
    [[nodiscard]] std::string document(Length width, Length height, std::string_view title,
                                       std::string_view style_sheet) const;

private:
    std::string shapes_;
};

}  // namespace ballast::cli::svg
