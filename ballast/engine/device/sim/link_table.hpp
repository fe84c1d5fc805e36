#pragma once
// When the links of a simulated machine are free.

#include <map>
#include <utility>
#include <vector>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/machine/link_rates.hpp"

namespace ballast::device::sim {

/// Not thread-safe.
class LinkTable {
public:
    /// Links that name each other as shared ("cpu->cuda:1") carry one copy at a time together.
    explicit LinkTable(std::vector<machine::LinkRate> rates);

    /// Takes the link for `bytes`, from `ready` or whenever it is free after that; returns when
    /// they have arrived.
    Nanoseconds take(DeviceId from, DeviceId to, Bytes bytes, Nanoseconds ready);

    /// Whether the profile calls that way direct.
    [[nodiscard]] bool is_peer(DeviceId from, DeviceId to) const;
    void set_rate(DeviceId from, DeviceId to, std::uint64_t bytes_per_s);
    [[nodiscard]] std::vector<LinkUse> use() const;

private:
    struct Link {
        machine::LinkRate rate;
        std::size_t group = 0;  ///< of links that compete
        std::uint64_t copies = 0;
        Bytes bytes{};
        std::uint64_t busy_ns = 0;
    };

    std::map<std::pair<DeviceId, DeviceId>, Link> links_;
    std::vector<Nanoseconds> free_at_;  ///< by group
};

}  // namespace ballast::device::sim
