#include "ballast/cli/devices.hpp"

#include <fmt/format.h>

#include <iterator>

#include "ballast/cli/command_settings.hpp"
#include "ballast/cli/machine.hpp"

namespace ballast::cli {
namespace {

std::string size_text(std::optional<Bytes> bytes) { return bytes ? to_string(*bytes) : "unknown"; }

/// "network cuda:0 (waits on cpu), text encoder ..."
std::string placement_text(const machine::Placement& placement) {
    return fmt::format(
        "network waits on {}, text encoder {} (waits on {}), VAE {} (waits on {}), "
        "results wait on {}",
        to_string(placement.unet_offload), to_string(placement.text_encoder),
        to_string(placement.text_encoder_offload), to_string(placement.vae),
        to_string(placement.vae_offload), to_string(placement.intermediate));
}

void add_device(std::string& text, const machine::DeviceAssessment& device) {
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "\n{}  {}\n", to_string(device.id), escaped(device.name));
    fmt::format_to(out, "  class         {} (rule {}): {}\n",
                   to_string(device.classification.memory_class), device.classification.rule,
                   device.classification.reason);
    fmt::format_to(out, "  memory        total {}, free {} ({})\n", size_text(device.total),
                   size_text(device.free.bytes), device.free.source);
    if (device.state == machine::VramState::disabled && device.id != kCpu) return;
    fmt::format_to(out, "  weights       budget {}, now {}, reserve {}\n",
                   size_text(device.budget.static_budget), size_text(device.budget.weights_now),
                   to_string(device.budget.reserve));
    if (device.id == kCpu) return;
    fmt::format_to(out, "  state         {}, {}\n", to_string(device.state),
                   placement_text(device.placement));
    fmt::format_to(out, "  host copies   pinned up to {}, {} streams\n",
                   to_string(device.pinned_limit), device.streams);
    fmt::format_to(out, "  emptying      {}\n", to_string(device.soft_empty));
    if (!device.cannot_store.empty())
        fmt::format_to(out, "  unusable      {}\n", device.cannot_store);
}

std::string devices_text(const Machine& machine) {
    const auto& assessment = machine.assessment;
    auto text =
        fmt::format("{}{}\nhost memory     total {}, available {}, container limit {}\n",
                    escaped(machine.profile.name), machine.is_simulated ? " (simulated)" : "",
                    size_text(assessment.host_total), size_text(assessment.host_available),
                    assessment.host_limit ? to_string(*assessment.host_limit) : "none");
    for (const auto& device : assessment.devices) add_device(text, device);
    if (!machine.profile.links.empty()) text += "\nlinks\n";
    for (const auto& link : machine.profile.links)
        fmt::format_to(std::back_inserter(text), "  {} to {}: {:.1f} GB/s{}\n",
                       to_string(link.from), to_string(link.to), link.gbps,
                       link.peer ? ", direct" : "");
    if (!machine.warnings.empty()) text += '\n';
    for (const auto& warning : machine.warnings) text += "warning: " + escaped(warning) + '\n';
    return text;
}

}  // namespace

int devices(const Invocation& invocation, Console& console) {
    const auto settings = command_settings(invocation.command->settings, invocation.given);
    if (!settings) return console.fail(settings.error());
    const auto machine = machine_of(*settings);
    if (!machine) return console.fail(machine.error());
    console.say(devices_text(*machine));
    console.print(devices_document(*machine));
    return 0;
}

}  // namespace ballast::cli
