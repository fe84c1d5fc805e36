#include "ballast/engine/machine/assessment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ballast/engine/machine/number_formats.hpp"

namespace ballast::machine {
namespace {

/// --cuda-device and --default-device count the GPUs of the CUDA interface.
std::vector<const DeviceProfile*> visible(const MachineProfile& profile,
                                          const MemoryOptions& options,
                                          std::vector<std::string>& warnings) {
    std::vector<const DeviceProfile*> devices;
    const auto is_cuda = [](DeviceId id, int index) {
        return id.kind == DeviceKind::cuda && id.index == index;
    };
    for (const auto& device : profile.devices) {
        const bool is_hidden = options.only_device && device.id.kind == DeviceKind::cuda &&
                               device.id.index != *options.only_device;
        if (!is_hidden) devices.push_back(&device);
    }
    for (const auto& [option, number] : {std::pair{"--cuda-device", options.only_device},
                                         {"--default-device", options.first_device}})
        if (number && std::ranges::none_of(devices, [&, index = *number](const auto* device) {
                return is_cuda(device->id, index);
            }))
            warnings.push_back(fmt::format("{} {}: there is no cuda:{}", option, *number, *number));
    if (options.first_device)
        std::ranges::stable_partition(devices, [&](const auto* device) {
            return is_cuda(device->id, *options.first_device);
        });
    return devices;
}

/// Kinds without a backend are listed, so that nobody wonders, and refused.
std::string reason_against(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::npu: return "there is no backend for Ascend devices yet";
        case DeviceKind::mlu: return "there is no backend for Cambricon devices yet";
        case DeviceKind::directml:
            return "DirectML tells neither its memory nor lets blocks be placed in it";
        case DeviceKind::corex: return "there is no backend for Iluvatar CoreX devices yet";
        case DeviceKind::cpu:
        case DeviceKind::cuda:
        case DeviceKind::xpu:
        case DeviceKind::mps:
        case DeviceKind::privateuseone:
        case DeviceKind::disk: break;
    }
    return {};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    std::ranges::copy(from, std::back_inserter(to));
}

class Assessor {
public:
    Assessor(const MachineProfile& profile, const MemoryOptions& options,
             const std::map<DeviceId, Holding>& holdings)
        : profile_(profile),
          options_(options),
          holdings_(holdings),
          host_available_(host_available(profile.host)) {}

    DeviceAssessment judge(const DeviceProfile& device, std::vector<std::string>& warnings) const {
        DeviceAssessment result{
            .id = device.id,
            .name = device.fails(Query::name) ? std::string{} : device.name,
            .classification = classify(device, profile_.host, profile_.system, options_)};
        const auto holding = holdings_.find(device.id);
        const DeviceQuestion question{
            .device = device,
            .host = profile_.host,
            .system = profile_.system,
            .options = options_,
            .memory_class = result.classification.memory_class,
            .holding = holding == holdings_.end() ? Holding{} : holding->second};
        result.state = vram_state(device, question.memory_class, options_);
        result.total = total_memory(question);
        result.free = free_memory(question);
        result.budget = budget(question, result.free);
        result.pinned_limit = pinned_limit(question);
        result.streams = offload_streams(question);
        judge_formats(result, device);
        result.placement = placement({.memory = question,
                                      .state = result.state,
                                      .is_fp16_usable = result.is_fp16_usable,
                                      .device_free = result.free.bytes,
                                      .host_free = host_available_});
        result.soft_empty = cache_action({.memory_class = question.memory_class,
                                          .call = EmptyingCall::soft,
                                          .available = host_available_,
                                          .reserve = result.budget.reserve,
                                          .cached = question.holding.releasable});
        result.cannot_store = reason_against(device.id.kind);
        append(warnings, result.classification.warnings);
        append(warnings, result.free.warnings);
        if (!result.cannot_store.empty())
            warnings.push_back(fmt::format("{} cannot store blocks: {}", to_string(device.id),
                                           result.cannot_store));
        return result;
    }

private:
    void judge_formats(DeviceAssessment& result, const DeviceProfile& device) const {
        if (result.state == VramState::disabled) return;
        const auto question = question_about(device, profile_, options_);
        result.is_fp16_usable = fp16_usable(question);
        result.is_bf16_usable = bf16_usable(question);
    }

    const MachineProfile& profile_;
    const MemoryOptions& options_;
    const std::map<DeviceId, Holding>& holdings_;
    std::optional<Bytes> host_available_;
};

}  // namespace

Assessment assess(const MachineProfile& profile, const MemoryOptions& options,
                  const std::map<DeviceId, Holding>& holdings) {
    Assessment result{.host_total = profile.host.total,
                      .host_available = host_available(profile.host),
                      .host_limit = profile.host.limit};
    const Assessor assessor(profile, options, holdings);
    const DeviceProfile processor{.id = kCpu, .name = "CPU"};
    result.devices.push_back(assessor.judge(processor, result.warnings));
    for (const auto* device : visible(profile, options, result.warnings))
        result.devices.push_back(assessor.judge(*device, result.warnings));
    for (const auto& [device, ignored] : options.classes)
        if (find_device(profile, device) == nullptr && device != kCpu)
            result.warnings.push_back(
                fmt::format("--memory-class: there is no device {}", to_string(device)));
    for (const auto& [device, ignored] : options.limits)
        if (find_device(profile, device) == nullptr && device != kCpu)
            result.warnings.push_back(
                fmt::format("--memory-limit: there is no device {}", to_string(device)));
    return result;
}

DeviceId default_compute_device(const Assessment& assessment) {
    for (const auto& device : assessment.devices)
        if (device.state != VramState::disabled && device.cannot_store.empty()) return device.id;
    return kCpu;
}

}  // namespace ballast::machine
