#include "ballast/engine/machine/discovery/pci_links.hpp"

#include <algorithm>
#include <charconv>

#include "ballast/engine/machine/discovery/pci_address.hpp"
#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

constexpr double kReachedByCopies = 0.85;
constexpr double kMostTransfers = 1024;  // GT/s; today's fastest are 64
constexpr std::uint64_t kMostLanes = 32;

double payload_of(double transfers) {
    if (transfers < 8) return 8.0 / 10;
    if (transfers < 64) return 128.0 / 130;
    return 242.0 / 256;
}

std::optional<double> rate_in(const fs::path& folder) {
    const auto speed = small_file(folder / "max_link_speed");
    const auto lanes = count_in(folder / "max_link_width");
    return speed && lanes ? copy_gbps(*speed, *lanes) : std::nullopt;
}

}  // namespace

std::optional<double> copy_gbps(std::string_view speed, std::uint64_t lanes) {
    speed = trimmed(speed);
    double transfers = 0;
    const auto [stop, fault] =
        std::from_chars(speed.data(), speed.data() + speed.size(), transfers);
    if (fault != std::errc{}) return std::nullopt;
    speed.remove_prefix(static_cast<std::size_t>(stop - speed.data()));
    if (!speed.starts_with(" GT/s")) return std::nullopt;
    // written so that what is no number fails too
    if (!(transfers > 0 && transfers <= kMostTransfers) || lanes == 0 || lanes > kMostLanes)
        return std::nullopt;
    return transfers * static_cast<double>(lanes) * payload_of(transfers) / 8 * kReachedByCopies;
}

std::vector<Link> pci_links(const fs::path& sys, const DeviceProfile& device) {
    const auto address = parse_pci(device.pci);
    if (!address || device.integrated.value_or(false)) return {};
    std::error_code fault;
    const auto folder = fs::canonical(sys / "bus" / "pci" / "devices" / to_string(*address), fault);
    if (fault) return {};
    auto rate = rate_in(folder);
    // above it in the tree are the switches and the slot that it hangs on
    for (auto part = folder.parent_path(); parse_pci(part.filename().string());
         part = part.parent_path())
        if (const auto bound = rate_in(part); rate && bound) rate = std::min(*rate, *bound);
    if (!rate) return {};
    return {{.from = kCpu, .to = device.id, .gbps = *rate},
            {.from = device.id, .to = kCpu, .gbps = *rate}};
}

}  // namespace ballast::machine
