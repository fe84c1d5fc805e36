#include "ballast/engine/plan/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/plan/allocation_reader.hpp"

namespace ballast::plan {

AllocationContext allocation_context(const machine::MachineProfile& profile) {
    AllocationContext context;
    for (const auto& device : profile.devices)
        context.devices.push_back({.id = device.id, .total = device.total});
    context.compute = context.devices.empty() ? kCpu : context.devices.front().id;
    context.devices.push_back({.id = kCpu, .total = machine::host_total(profile.host)});
    return context;
}

std::optional<Bytes> total_of(const std::vector<PresentDevice>& devices, DeviceId device) {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [device](const auto& present) { return present.id == device; });
    return found == devices.end() ? std::nullopt : found->total;
}

Result<Policy> parse_allocation(std::string_view typed, const AllocationContext& context) {
    const AllocationText text(typed, context);
    if (typed.size() > kLongestAllocation)
        return fail(text.fault({0, typed.size()}, kLongestAllocation,
                               {.why = fmt::format("longer than {} characters", kLongestAllocation),
                                .hint = "leave out devices that get nothing"}));
    Policy policy{.compute = context.compute};
    const auto end = text.find('#', 0, typed.size());
    if (auto fault = read_expert(text, end, policy)) return fail(std::move(*fault));
    if (end == typed.size()) return policy;
    if (auto fault = read_tail(text, end + 1, policy)) return fail(std::move(*fault));
    return policy;
}

}  // namespace ballast::plan
