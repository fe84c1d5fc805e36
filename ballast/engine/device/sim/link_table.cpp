#include "ballast/engine/device/sim/link_table.hpp"

#include <algorithm>
#include <string>

#include "ballast/engine/core/rate.hpp"

namespace ballast::device::sim {

LinkTable::LinkTable(std::vector<machine::LinkRate> rates) {
    std::map<std::string, std::size_t> by_name;
    std::vector<std::size_t> group(rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
        by_name.emplace(to_string(rates[i].from) + "->" + to_string(rates[i].to), i);
        group[i] = i;
    }
    for (std::size_t i = 0; i < rates.size(); ++i)
        for (const auto& name : rates[i].shared_with) {
            const auto other = by_name.find(name);
            if (other == by_name.end()) continue;
            const auto [kept, given_up] = std::minmax(group[i], group[other->second]);
            std::ranges::replace(group, std::size_t{given_up}, std::size_t{kept});
        }
    free_at_.resize(rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const std::pair ends{rates[i].from, rates[i].to};
        links_.emplace(ends, Link{.rate = std::move(rates[i]), .group = group[i]});
    }
}

Nanoseconds LinkTable::take(DeviceId from, DeviceId to, Bytes bytes, Nanoseconds ready) {
    const auto found = links_.find({from, to});
    if (found == links_.end()) return ready;  // within one device
    auto& link = found->second;
    const auto taken = transfer_ns(bytes, link.rate.bytes_per_s, link.rate.latency_ns);
    auto& free_at = free_at_[link.group];
    free_at = std::max(free_at, ready) + Nanoseconds{static_cast<Nanoseconds::rep>(taken)};
    ++link.copies;
    link.bytes += bytes;
    link.busy_ns += taken;
    return free_at;
}

bool LinkTable::is_peer(DeviceId from, DeviceId to) const {
    const auto found = links_.find({from, to});
    return found != links_.end() && found->second.rate.is_peer;
}

void LinkTable::set_rate(DeviceId from, DeviceId to, std::uint64_t bytes_per_s) {
    if (const auto found = links_.find({from, to}); found != links_.end())
        found->second.rate.bytes_per_s = std::max<std::uint64_t>(bytes_per_s, 1);
}

std::vector<LinkUse> LinkTable::use() const {
    std::vector<LinkUse> used;
    for (const auto& [ends, link] : links_) {
        if (link.copies == 0) continue;
        used.push_back({ends.first, ends.second, link.copies, link.bytes, link.busy_ns,
                        link.rate.bytes_per_s});
    }
    return used;
}

}  // namespace ballast::device::sim
