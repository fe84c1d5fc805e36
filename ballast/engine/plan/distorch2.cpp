#include "ballast/engine/plan/distorch2.hpp"

#include <algorithm>

namespace ballast::plan {
namespace {

struct Quota {
    DeviceId device{};
    WideBytes left = 0;
};

/// By name, so that cuda:10 comes before cuda:2; cpu last.
std::vector<Quota> in_order_of_names(const Distorch2Fractions& fractions,
                                     const std::vector<PresentDevice>& devices) {
    std::vector<Quota> quotas;
    for (const auto& [device, fraction] : fractions.parts) {
        const auto total = total_of(devices, device).value_or(Bytes{});
        const auto number = Decimal::parse(fraction).value_or(Decimal{});
        quotas.push_back({device, number.floor_times(Wide{total.count()}).to_wide_bytes()});
    }
    std::sort(quotas.begin(), quotas.end(), [](const Quota& a, const Quota& b) {
        const bool is_cpu_a = a.device == kCpu;
        const bool is_cpu_b = b.device == kCpu;
        if (is_cpu_a != is_cpu_b) return is_cpu_b;
        return to_string(a.device) < to_string(b.device);
    });
    return quotas;
}

std::string joined(const Distorch2Fractions& fractions) {
    std::string text;
    for (const auto& [device, fraction] : fractions.parts)
        text += (text.empty() ? "" : ";") + to_string(device) + "," + fraction;
    return text;
}

/// Head blocks of a text encoder are charged to the compute device; tiny ones and those that cannot
/// be fetched are not.
void charge_heads(std::vector<Quota>& quotas, DeviceId compute,
                  const std::vector<PlacementBlock>& blocks, const std::vector<Pinned>& pinned) {
    WideBytes heads = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (pinned[i] == Pinned::head) heads += blocks[i].bytes.count();
    for (auto& quota : quotas)
        if (quota.device == compute) quota.left = quota.left > heads ? quota.left - heads : 0;
}

}  // namespace

Result<Distorch2Placement> place_like_distorch2(const Distorch2Request& request) {
    const auto fractions = distorch2_fractions(request);
    if (!fractions) return fail(fractions.error());
    const auto& blocks = request.blocks;
    auto quotas = in_order_of_names(*fractions, request.machine.devices);

    Distorch2Placement made{.fractions = joined(*fractions), .compute = fractions->compute};
    made.homes.assign(blocks.size(), made.compute);
    made.orphans.assign(blocks.size(), false);
    for (const auto& quota : quotas) made.quotas[quota.device] = to_bytes(quota.left);

    const auto pinned = pinned_blocks(blocks, request.role);
    charge_heads(quotas, made.compute, blocks, pinned);
    for (std::size_t i = blocks.size(); i-- > 0;) {
        if (pinned[i] != Pinned::no) continue;
        const auto size = blocks[i].bytes.count();
        const auto home = std::find_if(quotas.begin(), quotas.end(),
                                       [size](const auto& quota) { return quota.left >= size; });
        made.orphans[i] = home == quotas.end();
        if (home == quotas.end()) continue;
        home->left -= size;
        made.homes[i] = home->device;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
        made.per_device[made.homes[i]] += blocks[i].bytes;
    return made;
}

}  // namespace ballast::plan
