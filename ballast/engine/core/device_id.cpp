#include "ballast/engine/core/device_id.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace ballast {
namespace {

constexpr std::array<std::pair<DeviceKind, std::string_view>, 10> kNames{{
    {DeviceKind::cpu, "cpu"},
    {DeviceKind::cuda, "cuda"},
    {DeviceKind::xpu, "xpu"},
    {DeviceKind::mps, "mps"},
    {DeviceKind::npu, "npu"},
    {DeviceKind::mlu, "mlu"},
    {DeviceKind::directml, "directml"},
    {DeviceKind::corex, "corex"},
    {DeviceKind::privateuseone, "privateuseone"},
    {DeviceKind::disk, "disk"},
}};

bool exists_once(DeviceKind kind) {
    return kind == DeviceKind::cpu || kind == DeviceKind::mps || kind == DeviceKind::disk;
}

}  // namespace

std::string to_string(DeviceId device) {
    std::string text;
    for (const auto& [kind, name] : kNames)
        if (kind == device.kind) text = name;
    if (!exists_once(device.kind)) text += ":" + std::to_string(device.index);
    return text;
}

std::optional<DeviceId> parse_device(std::string_view text) {
    const auto colon = text.find(':');
    const auto name = text.substr(0, colon);
    for (const auto& [kind, known] : kNames) {
        if (known != name) continue;
        if (colon == std::string_view::npos) return DeviceId{kind, 0};
        const auto digits = text.substr(colon + 1);
        // from_chars alone would take "-0"
        if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
            return std::nullopt;
        int index = 0;
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), index);
        if (parsed.ec != std::errc{} || (exists_once(kind) && index != 0)) return std::nullopt;
        return DeviceId{kind, index};
    }
    return std::nullopt;
}

}  // namespace ballast
