#include "ballast/engine/machine/discovery/discover.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/machine/discovery/control_group.hpp"
#include "ballast/engine/machine/discovery/cuda_driver.hpp"
#include "ballast/engine/machine/discovery/hip.hpp"
#include "ballast/engine/machine/discovery/level_zero.hpp"
#include "ballast/engine/machine/discovery/meminfo.hpp"
#include "ballast/engine/machine/discovery/other_accelerators.hpp"
#include "ballast/engine/machine/discovery/pci_links.hpp"
#include "ballast/engine/machine/discovery/storage.hpp"
#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

/// WSL has a kernel of Microsoft's, and says so in its version.
System system_of(const fs::path& proc) {
    const auto release = lower(small_file(proc / "sys" / "kernel" / "osrelease").value_or(""));
    return release.find("microsoft") == std::string::npos ? System::gnu_linux : System::wsl2;
}

void look_at_host(const DiscoveryOptions& options, Discovery& discovery) {
    auto& host = discovery.profile.host;
    auto& source = discovery.profile.source;
    const auto file = options.proc / "meminfo";
    const auto text = small_file(file);
    if (text) {
        host = parse_meminfo(*text);
        source.push_back(file.string());
    }
    if (!host.total)
        discovery.warnings.push_back("the host's memory is unknown: " + escaped(file.string()) +
                                     (text ? " does not tell it" : " cannot be read"));
    if (const auto group = control_group_limit(options.proc, options.sys, host.total)) {
        host.limit = group->limit;
        host.limit_used = group->used;
        source.push_back(escaped(group->group.string()));
    }
}

void add(FoundDevices found, Discovery& discovery) {
    std::ranges::move(found.devices, std::back_inserter(discovery.profile.devices));
    std::ranges::move(found.warnings, std::back_inserter(discovery.warnings));
    if (!found.source.empty()) discovery.profile.source.push_back(std::move(found.source));
}

void look_for_devices(const DiscoveryOptions& options, Discovery& discovery) {
    const auto& libraries = options.libraries;
    add(cuda_devices(libraries.cuda, libraries.nvml), discovery);
    const auto nvidia = static_cast<int>(discovery.profile.devices.size());
    add(hip_devices(libraries.hip, options.sys, nvidia), discovery);
    add(level_zero_devices(libraries.level_zero), discovery);
    add(ascend_devices(libraries.ascend), discovery);
    add(cambricon_devices(libraries.cambricon), discovery);
    add(directml_devices(libraries.directml), discovery);
    add(corex_devices(libraries.corex), discovery);
}

}  // namespace

Discovery discover(const DiscoveryOptions& options) {
    Discovery discovery;
    auto& profile = discovery.profile;
    profile.system = system_of(options.proc);
    const auto name = small_file(options.proc / "sys" / "kernel" / "hostname").value_or("");
    profile.name = escaped(trimmed(name));
    look_at_host(options, discovery);
    look_for_devices(options, discovery);
    for (const auto& device : profile.devices)
        std::ranges::move(pci_links(options.sys, device), std::back_inserter(profile.links));
    if (!options.models.empty()) profile.storage.kind = storage_kind(options.models, options.sys);
    return discovery;
}

}  // namespace ballast::machine
