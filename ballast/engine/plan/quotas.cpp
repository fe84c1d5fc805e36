#include "ballast/engine/plan/quotas.hpp"

#include <algorithm>

namespace ballast::plan {
namespace {

std::vector<Quota> virtual_quotas(const Policy& policy, WideBytes model,
                                  const std::vector<PresentDevice>& devices) {
    WideBytes uncovered = policy.virtual_bytes.count();
    std::vector<Quota> quotas{{policy.compute, model > uncovered ? model - uncovered : 0}};
    // the last donor takes the remainder
    for (std::size_t i = 0; i + 1 < policy.donors.size(); ++i) {
        const auto memory = total_of(devices, policy.donors[i]);
        const auto bytes = memory ? std::min<WideBytes>(uncovered, memory->count()) : uncovered;
        quotas.push_back({policy.donors[i], bytes});
        uncovered -= bytes;
    }
    return quotas;
}

/// What percentages are parts of: a hundred beside a rest marker, else their sum. In units of
/// 1/10^scale.
Wide whole_of(const Policy& policy, unsigned scale) {
    if (policy.rest) return Wide{100} * Wide::power_of_ten(scale);
    Wide sum;
    for (const auto& entry : policy.entries) sum += entry.number.at_scale(scale);
    return sum;
}

}  // namespace

std::vector<Quota> quotas_of(const Policy& policy, WideBytes model,
                             const std::vector<PresentDevice>& devices) {
    if (policy.mode == Mode::virtual_vram) return virtual_quotas(policy, model, devices);
    unsigned scale = 0;
    for (const auto& entry : policy.entries) scale = std::max(scale, entry.number.scale());
    const auto whole = whole_of(policy, scale);
    std::vector<Quota> quotas;
    for (const auto& entry : policy.entries) {
        WideBytes bytes = entry.bytes.count();
        if (policy.mode == Mode::ratio)
            bytes = (entry.number.at_scale(scale) * Wide{model} / whole).to_wide_bytes();
        if (policy.mode == Mode::fraction) {
            const auto memory = total_of(devices, entry.device).value_or(Bytes{});
            bytes = entry.number.floor_times(Wide{memory.count()}).to_wide_bytes();
        }
        quotas.push_back({entry.device, bytes});
    }
    return quotas;
}

}  // namespace ballast::plan
