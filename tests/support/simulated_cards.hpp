#pragma once
// Options of a runtime whose accelerators are simulated.

#include <utility>

#include "ballast/graph/runtime.hpp"

namespace ballast::testing {

inline constexpr DeviceId kCard{DeviceKind::cuda, 0};
inline constexpr DeviceId kOther{DeviceKind::cuda, 1};

/// Two cards of 24 and 8 GiB; the first one reaches the second.
inline graph::RuntimeOptions two_cards() {
    using namespace ballast::literals;
    machine::MachineProfile profile;
    profile.host = {.total = 64_GiB, .available = 60_GiB, .free = 60_GiB};
    for (const auto& [id, total] : {std::pair{kCard, 24_GiB}, std::pair{kOther, 8_GiB}}) {
        machine::DeviceProfile device{
            .id = id, .vendor = "nvidia", .total = total, .free = total, .capability = "8.9"};
        device.types = {"fp16", "bf16"};
        device.tflops = {{"fp16", 10.0}};
        profile.devices.push_back(std::move(device));
        profile.links.push_back({.from = kCpu, .to = id, .gbps = 10, .latency_us = 10});
    }
    profile.links.push_back({.from = kOther, .to = kCard, .gbps = 20, .peer = true});
    graph::RuntimeOptions options;
    options.profile = std::move(profile);
    options.is_simulated = true;
    return options;
}

}  // namespace ballast::testing
