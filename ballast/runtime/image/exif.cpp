#include "ballast/runtime/image/exif.hpp"

#include <cstdint>
#include <optional>

namespace ballast::runtime::image {

namespace {

/// Numbers in a TIFF block, in its own byte order; nothing beyond its end.
class Tiff {
public:
    explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes) {
        const auto mark = number(0, 2);
        is_little_ = mark == 0x4949U;
        if (!is_little_ && mark != 0x4D4DU) bytes_ = {};
    }

    [[nodiscard]] std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
        if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto byte = bytes_[at + (is_little_ ? size - 1 - i : i)];
            value = (value << 8U) | std::to_integer<std::uint32_t>(byte);
        }
        return value;
    }

private:
    std::span<const std::byte> bytes_;
    bool is_little_ = false;
};

}  // namespace

Orientation exif_orientation(std::span<const std::byte> tiff) {
    constexpr std::uint32_t kMagic = 42;
    constexpr std::uint32_t kOrientation = 0x0112;
    constexpr std::size_t kEntry = 12;
    const Tiff block(tiff);
    const auto directory = block.number(4, 4);
    if (block.number(2, 2) != kMagic || !directory) return Orientation::top_left;
    const auto entries = block.number(*directory, 2).value_or(0);
    for (std::size_t i = 0; i < entries; ++i) {
        const auto at = std::size_t{*directory} + 2 + i * kEntry;
        if (block.number(at, 2) != kOrientation) continue;
        const auto value = block.number(at + 8, 2).value_or(0);
        return value >= 1 && value <= 8 ? static_cast<Orientation>(value) : Orientation::top_left;
    }
    return Orientation::top_left;
}

}  // namespace ballast::runtime::image
