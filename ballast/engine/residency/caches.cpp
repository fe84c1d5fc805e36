#include "ballast/engine/residency/caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ballast::residency {
namespace {

using machine::CacheAction;
using machine::EmptyingCall;
using machine::MemoryClass;

class Emptying {
public:
    Emptying(EmptyingCall call, const PolicyOf& policy, const AvailableNow& available,
             const Log& log)
        : call_(call), policy_(policy), available_(available), log_(log) {}

    /// `cached` is what the device kept before the first one was emptied.
    CacheReport empty(device::Device& device, Bytes cached) const;

private:
    [[nodiscard]] CacheAction action_on(DeviceId id, const DevicePolicy& policy,
                                        Bytes cached) const;
    void release(device::Device& device, MemoryClass memory_class, CacheReport& report) const;
    [[nodiscard]] std::optional<Bytes> available_to(MemoryClass memory_class) const {
        if (memory_class != MemoryClass::unified || !available_) return std::nullopt;
        return available_();
    }

    EmptyingCall call_;
    const PolicyOf& policy_;
    const AvailableNow& available_;
    const Log& log_;
};

CacheAction Emptying::action_on(DeviceId id, const DevicePolicy& policy, Bytes cached) const {
    // kinds whose allocators keep nothing that could be asked for
    if (machine::emptying_steps(id.kind).empty()) return CacheAction::nothing;
    const auto available = available_to(policy.memory_class);
    const auto action = machine::cache_action({.memory_class = policy.memory_class,
                                               .call = call_,
                                               .available = available,
                                               .reserve = policy.reserve,
                                               .cached = cached});
    const bool is_pressure = policy.memory_class == MemoryClass::unified &&
                             call_ == EmptyingCall::soft && action == CacheAction::release;
    if (is_pressure)
        log_.info(fmt::format("pressure release on {}: {} cached, {} available to the system",
                              to_string(id), to_string(cached),
                              to_string(available.value_or(Bytes{}))));
    return action;
}

void Emptying::release(device::Device& device, MemoryClass memory_class,
                       CacheReport& report) const {
    const auto before = available_to(memory_class);
    auto emptied = device.empty_cache();
    if (!emptied) {
        report.error = std::move(emptied).error();
        return;
    }
    report.released = *emptied;
    report.reached_system =
        machine::reached_the_system(*emptied, before, available_to(memory_class));
}

CacheReport Emptying::empty(device::Device& device, Bytes cached) const {
    CacheReport report{.device = device.id(), .is_asleep = !device.is_awake()};
    if (report.is_asleep) return report;
    const auto policy = policy_(device.id());
    report.action = action_on(device.id(), policy, cached);
    if (report.action != CacheAction::nothing)
        // what is in flight must not lose its memory: who cannot wait does not release
        if (auto idle = device.synchronise(); !idle) report.error = std::move(idle).error();
    if (report.action == CacheAction::release && !report.error)
        release(device, policy.memory_class, report);
    report.kept = device.memory().cached;
    // some allocators empty all devices of a type at once: each is told what it gave back itself
    if (report.action == CacheAction::release)
        report.released = std::max(report.released, cached.minus_or_zero(report.kept));
    if (report.error) log_.warning(to_string(report));
    if (!report.reached_system)
        log_.warning(fmt::format("{} of {} were released, but the system has not got them",
                                 to_string(report.released), to_string(report.device)));
    return report;
}

CacheReport unknown(DeviceId id, const device::DeviceSet& devices) {
    std::string present;
    for (const auto& device : devices.all())
        present += (present.empty() ? "" : ", ") + to_string(device->id());
    return {.device = id,
            .error = Error{.code = Code::not_available,
                           .what = fmt::format("cannot empty the cache of {}", to_string(id)),
                           .why = "there is no such device",
                           .hint = fmt::format("present: {}", present)}};
}

}  // namespace

std::string to_string(const CacheReport& report) {
    const auto say = [&](const std::string& what) {
        return fmt::format("{}: {}", to_string(report.device), what);
    };
    if (report.error)
        return say(to_string(*report.error) +
                   (report.kept.is_zero()
                        ? std::string{}
                        : fmt::format("; {} still cached", to_string(report.kept))));
    if (report.is_asleep) return say("not in use, left alone");
    const auto kept = report.kept.is_zero()
                          ? std::string{}
                          : fmt::format(", {} kept for reuse", to_string(report.kept));
    switch (report.action) {
        case CacheAction::release:
            return say(fmt::format("released {}", to_string(report.released)) + kept);
        case CacheAction::synchronise: return say("idle" + kept);
        case CacheAction::nothing: break;
    }
    return say("nothing to empty" + kept);
}

std::vector<CacheReport> empty_caches(const device::DeviceSet& devices,
                                      std::span<const DeviceId> only, EmptyingCall call,
                                      const PolicyOf& policy, const AvailableNow& available,
                                      const Log& log) {
    std::vector<std::pair<device::Device*, Bytes>> meant;
    for (const auto& device : devices.all())
        if (only.empty() || std::ranges::find(only, device->id()) != only.end())
            meant.emplace_back(device.get(), device->memory().cached);

    const Emptying emptying(call, policy, available, log);
    std::vector<CacheReport> reports;
    for (const auto& [device, cached] : meant) reports.push_back(emptying.empty(*device, cached));
    for (const auto id : only) {
        const bool is_told = std::ranges::any_of(
            reports, [&](const CacheReport& report) { return report.device == id; });
        if (is_told) continue;
        reports.push_back(unknown(id, devices));
        log.warning(to_string(reports.back()));
    }
    return reports;
}

}  // namespace ballast::residency
