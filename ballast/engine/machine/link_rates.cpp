#include "ballast/engine/machine/link_rates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ballast::machine {
namespace {

constexpr std::uint64_t kAssumedLink = 12'000'000'000;
constexpr std::uint64_t kAssumedLatency = 10'000;
constexpr std::uint64_t kAssumedDisk = 1'000'000'000;
constexpr std::uint64_t kAssumedDiskLatency = 100'000;

LinkRate told(const Link& link) {
    return {.from = link.from,
            .to = link.to,
            .bytes_per_s = whole_rate(link.gbps, 1e9),
            .latency_ns = whole_rate(link.latency_us, 1e3),
            .is_peer = link.peer,
            .shared_with = link.shared_with};
}

}  // namespace

std::uint64_t whole_rate(double value, double unit) {
    const auto scaled = std::floor(value * unit + 0.5);
    constexpr double kMost = 1e18;
    return scaled < 1 ? 1 : static_cast<std::uint64_t>(std::min(scaled, kMost));
}

std::vector<LinkRate> link_rates(const MachineProfile& profile, std::span<const DeviceId> devices) {
    std::map<std::pair<DeviceId, DeviceId>, const Link*> known;
    for (const auto& link : profile.links) known.try_emplace({link.from, link.to}, &link);
    std::vector<LinkRate> rates;
    for (const auto from : devices)
        for (const auto to : devices) {
            if (from == to) continue;
            const auto there = known.find({from, to});
            // a known way back is a better guess than none
            const auto back = known.find({to, from});
            if (there != known.end()) {
                rates.push_back(told(*there->second));
                continue;
            }
            LinkRate rate{.bytes_per_s = kAssumedLink, .latency_ns = kAssumedLatency};
            if (back != known.end()) rate = told(*back->second);
            rate.from = from;
            rate.to = to;
            rate.is_peer = false;
            rate.is_assumed = true;
            rate.shared_with.clear();
            rates.push_back(std::move(rate));
        }
    return rates;
}

DiskRate disk_rate(const MachineProfile& profile) {
    const auto& storage = profile.storage;
    return {.bytes_per_s = storage.gbps ? whole_rate(*storage.gbps, 1e9) : kAssumedDisk,
            .latency_ns =
                storage.latency_us ? whole_rate(*storage.latency_us, 1e3) : kAssumedDiskLatency,
            .is_assumed = !storage.gbps.has_value()};
}

std::optional<std::uint64_t> flops_per_second(const DeviceProfile& device) {
    std::optional<std::uint64_t> best;
    for (const auto* type : {"bf16", "fp16", "fp32"}) {
        const auto found = device.tflops.find(type);
        if (found == device.tflops.end()) continue;
        best = std::max(best.value_or(0), whole_rate(found->second, 1e12));
    }
    return best;
}

}  // namespace ballast::machine
