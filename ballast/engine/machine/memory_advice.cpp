#include <fmt/format.h>

#include "ballast/engine/machine/advice.hpp"

namespace ballast::machine {
namespace {

constexpr Bytes kSmallSharedMemory{std::uint64_t{64} << 20U};

bool is_below_share(Bytes part, Bytes whole, std::uint64_t percent) {
    return part.times(100) < whole.times(percent);
}

Finding class_finding(const DeviceAssessment& device) {
    const auto& classification = device.classification;
    const bool is_guess = classification.rule == "D8" || classification.rule == "D9";
    return {is_guess ? Verdict::note : Verdict::good, to_string(device.id),
            fmt::format("{} by rule {}: {}", to_string(classification.memory_class),
                        classification.rule, classification.reason),
            is_guess ? fmt::format("if that is wrong, say --memory-class {}=discrete or =unified",
                                   to_string(device.id))
                     : ""};
}

std::string words_of_budget(const DeviceAssessment& device) {
    const auto now = device.budget.weights_now;
    const auto whole = device.budget.static_budget;
    return fmt::format("weights may take {} of {}, and {} now ({}); {} are reserved",
                       whole ? to_string(*whole) : "an unknown amount",
                       device.total ? to_string(*device.total) : "an unknown total",
                       now ? to_string(*now) : "an unknown amount",
                       now ? "limited by " + device.budget.limited_by : "free memory is unknown",
                       to_string(device.budget.reserve));
}

void add_budget(std::vector<Finding>& findings, const DeviceAssessment& device) {
    const bool is_pool = device.classification.memory_class == MemoryClass::unified;
    const auto now = device.budget.weights_now;
    if (now && now->is_zero())
        findings.push_back(
            {Verdict::broken, to_string(device.id),
             fmt::format("no memory is left for weights: {} free, {} reserved{}",
                         device.free.bytes ? to_string(*device.free.bytes) : "an unknown amount",
                         to_string(device.budget.reserve),
                         is_pool ? "; CPU and GPU share this pool, so moving weights to the CPU "
                                   "frees nothing"
                                 : ""),
             "close other programs, or lower --reserve-vram"});
    else
        findings.push_back({Verdict::good, to_string(device.id), words_of_budget(device), ""});
}

void add_other_programs(std::vector<Finding>& findings, const DeviceAssessment& device) {
    if (!device.free.bytes || !device.total || device.id == kCpu) return;
    if (!is_below_share(*device.free.bytes, *device.total, 75)) return;
    findings.push_back(
        {Verdict::note, to_string(device.id),
         fmt::format("other programs hold {} of it",
                     to_string(device.total->minus_or_zero(*device.free.bytes))),
         "close browsers and desktops that draw on this GPU, or run them on another one"});
}

/// On one pool the processor's figure and the device's are of the same bytes.
void add_shared_pool(std::vector<Finding>& findings, const DeviceAssessment& device) {
    if (device.classification.memory_class != MemoryClass::unified) return;
    findings.push_back({Verdict::note, to_string(device.id),
                        "its memory is the processor's: the two figures are no sum, and moving "
                        "weights to the processor frees nothing",
                        ""});
}

/// An APU whose firmware keeps much of the memory for the GPU.
void add_carveout(std::vector<Finding>& findings, const DeviceProfile& device,
                  const DeviceAssessment& judged) {
    const bool is_partitioned =
        judged.classification.memory_class == MemoryClass::partitioned && is_hip(device);
    if (!is_partitioned || !device.carveout) return;
    findings.push_back(
        {Verdict::note, to_string(device.id),
         fmt::format("the firmware took {} from the host for it; neither side can use the "
                     "other's share",
                     to_string(*device.carveout)),
         "set the smallest carve-out in the firmware and raise the graphics driver's limit on "
         "host memory (ttm.pages_limit in 4 KiB pages, or amdgpu.gttsize in MiB)"});
}

void add_gtt_share(std::vector<Finding>& findings, const MachineProfile& profile,
                   const DeviceProfile& device, const DeviceAssessment& judged) {
    if (judged.classification.memory_class != MemoryClass::unified || !is_hip(device)) return;
    if (!device.gtt || !profile.host.total) return;
    if (!is_below_share(*device.gtt, *profile.host.total, 75)) return;
    findings.push_back(
        {Verdict::note, to_string(device.id),
         fmt::format("the graphics driver maps at most {} of {} host memory (half is its default)",
                     to_string(*device.gtt), to_string(*profile.host.total)),
         "raise ttm.pages_limit (4 KiB pages) or amdgpu.gttsize (MiB) at boot"});
}

void add_container(std::vector<Finding>& findings, const MachineProfile& profile,
                   const Assessment& assessment) {
    const auto& host = profile.host;
    if (!host.limit) return;
    bool has_pool = false;
    for (const auto& device : assessment.devices)
        has_pool |= device.classification.memory_class == MemoryClass::unified;
    findings.push_back(
        {Verdict::note, "container",
         fmt::format("host memory is limited to {}{}{}", to_string(*host.limit),
                     host.total ? fmt::format(" of {}", to_string(*host.total)) : "",
                     has_pool ? "; allocations of the GPU are not charged to it, so it does not "
                                "protect the system here, the reserve does"
                              : ", and what does not fit into it is killed by the system"),
         "raise the container's memory limit if models must be parked in host memory"});
}

void add_shared_memory(std::vector<Finding>& findings, const Surroundings& surroundings,
                       bool has_pool) {
    if (!surroundings.shared_memory) return;
    const auto size = *surroundings.shared_memory;
    if (size <= kSmallSharedMemory)
        findings.push_back({Verdict::nothing, "/dev/shm",
                            fmt::format("{}, a container's default; Ballast does not use it, "
                                        "loaders of Python programs do",
                                        to_string(size)),
                            ""});
    else if (has_pool)
        findings.push_back({Verdict::note, "/dev/shm",
                            fmt::format("up to {}; what is stored there comes from the pool that "
                                        "models live in",
                                        to_string(size)),
                            "keep shm_size small (1 GiB) on shared memory"});
}

void add_host(std::vector<Finding>& findings, const MachineProfile& profile,
              const Surroundings& surroundings, bool has_pool) {
    const auto available = host_available(profile.host);
    const auto total = host_total(profile.host);
    if (available && total && is_below_share(*available, *total, 25))
        findings.push_back(
            {Verdict::hurts, "host memory",
             fmt::format("only {} of {} are available", to_string(*available), to_string(*total)),
             "close other programs"});
    if (!profile.host.available)
        findings.push_back({Verdict::note, "host memory",
                            available ? "the system does not say what is available; the figure "
                                        "is made of free memory and cache"
                                      : "nobody says how much is available",
                            ""});
    if (has_pool && surroundings.swappiness.value_or(0) > 10)
        findings.push_back({Verdict::note, "vm.swappiness",
                            fmt::format("{}: under pressure the system swaps and freezes rather "
                                        "than refusing",
                                        *surroundings.swappiness),
                            "set vm.swappiness=1 on machines with one pool"});
}

}  // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::good: return "good";
        case Verdict::nothing: return "nothing";
        case Verdict::note: return "note";
        case Verdict::hurts: return "hurts";
        case Verdict::broken: return "broken";
    }
    return "";
}

std::vector<Finding> memory_findings(const MachineProfile& profile, const Assessment& assessment,
                                     const Surroundings& surroundings) {
    std::vector<Finding> findings;
    bool has_pool = false;
    for (const auto& judged : assessment.devices) {
        has_pool |= judged.classification.memory_class == MemoryClass::unified ||
                    judged.classification.memory_class == MemoryClass::shared;
        const auto* device = find_device(profile, judged.id);
        if (device != nullptr) findings.push_back(class_finding(judged));
        if (device != nullptr && judged.state == VramState::disabled) continue;
        if (!judged.cannot_store.empty()) {
            findings.push_back({Verdict::broken, to_string(judged.id),
                                "cannot store blocks: " + judged.cannot_store,
                                "use another device"});
            continue;
        }
        add_budget(findings, judged);
        add_shared_pool(findings, judged);
        add_other_programs(findings, judged);
        if (device == nullptr) continue;
        add_carveout(findings, *device, judged);
        add_gtt_share(findings, profile, *device, judged);
    }
    if (assessment.devices.size() < 2)
        findings.push_back({Verdict::note, "devices",
                            "no accelerator was found, so everything is computed by the processor",
                            "install the driver of your GPU; in a container, pass the GPU in"});
    add_host(findings, profile, surroundings, has_pool);
    add_container(findings, profile, assessment);
    add_shared_memory(findings, surroundings, has_pool);
    return findings;
}

}  // namespace ballast::machine
