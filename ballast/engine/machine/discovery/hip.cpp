#include "ballast/engine/machine/discovery/hip.hpp"

#include <fmt/format.h>

#include <array>

#include "ballast/engine/machine/discovery/pci_address.hpp"
#include "ballast/engine/machine/discovery/shared_library.hpp"
#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

constexpr int kIntegrated = 16;  // hipDeviceAttributeIntegrated
constexpr int kNoDevice = 100;   // hipErrorNoDevice
constexpr int kMostGraphNodes = 256;

/// Each function may be missing.
struct Runtime {
    explicit Runtime(const SharedLibrary& library)
        : count(library.find<int(int*)>("hipGetDeviceCount")),
          name(library.find<int(char*, int, int)>("hipDeviceGetName")),
          total(library.find<int(std::size_t*, int)>("hipDeviceTotalMem")),
          attribute(library.find<int(int*, int, int)>("hipDeviceGetAttribute")),
          pci(library.find<int(char*, int, int)>("hipDeviceGetPCIBusId")) {}

    int (*count)(int*);
    int (*name)(char*, int, int);
    int (*total)(std::size_t*, int);
    int (*attribute)(int*, int, int);
    int (*pci)(char*, int, int);
};

std::string text_from(int (*ask)(char*, int, int), int device) {
    std::array<char, 257> text{};  // one more than the runtime is told, so that it always ends
    return succeeds(ask, text.data(), 256, device) ? driver_text(text) : "";
}

DeviceProfile describe(const Runtime& runtime, int device) {
    DeviceProfile profile;
    profile.vendor = "amd";
    int integrated = -1;
    if (succeeds(runtime.attribute, &integrated, kIntegrated, device) &&
        (integrated == 0 || integrated == 1))
        profile.integrated = integrated == 1;
    else
        profile.query_fails.push_back(Query::attributes);
    std::size_t total = 0;
    if (succeeds(runtime.total, &total, device)) profile.total = believable_bytes(total);
    if (!profile.total) profile.query_fails.push_back(Query::total);
    profile.name = text_from(runtime.name, device);
    if (profile.name.empty()) profile.query_fails.push_back(Query::name);
    if (const auto pci = parse_pci(text_from(runtime.pci, device))) profile.pci = to_string(*pci);
    return profile;
}

std::optional<Bytes> unused(std::optional<Bytes> total, std::optional<Bytes> used) {
    if (!total || !used) return std::nullopt;
    return total->minus_or_zero(*used);
}

/// What amdgpu says of its pools: the card's own memory or carve-out ("vram"), and mapped host
/// memory ("gtt").
void ask_pools(const fs::path& folder, DeviceProfile& profile) {
    const auto vram = bytes_in(folder / "mem_info_vram_total");
    profile.gtt = bytes_in(folder / "mem_info_gtt_total");
    profile.free = unused(vram, bytes_in(folder / "mem_info_vram_used"));
    if (!profile.integrated.value_or(false)) return;
    profile.carveout = vram;
    // an integrated device allocates from both
    const auto mapped = unused(profile.gtt, bytes_in(folder / "mem_info_gtt_used"));
    if (profile.free && mapped) profile.free = *profile.free + *mapped;
}

/// The architecture of the device at `pci`, from the compute driver's graph of the machine.
std::string architecture_at(const fs::path& sys, const PciAddress& pci) {
    const auto location = (pci.bus << 8U) | (pci.device << 3U) | pci.function;
    const auto nodes = sys / "class" / "kfd" / "kfd" / "topology" / "nodes";
    for (int node = 0; node < kMostGraphNodes; ++node) {
        const auto text = small_file(nodes / std::to_string(node) / "properties");
        if (!text) return {};  // they are numbered without gaps
        if (count_after(*text, "location_id") != location ||
            count_after(*text, "domain").value_or(0) != pci.domain)
            continue;
        auto name = architecture_name(count_after(*text, "gfx_target_version").value_or(0));
        if (!name.empty()) return name;
    }
    return {};
}

}  // namespace

std::string architecture_name(std::uint64_t target_version) {
    const auto major = target_version / 10000;
    const auto minor = target_version / 100 % 100;
    const auto stepping = target_version % 100;
    if (major == 0 || major > 99 || minor > 15 || stepping > 15) return {};
    return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
}

FoundDevices hip_devices(std::span<const std::string> libraries, const fs::path& sys,
                         int first_index) {
    auto library = SharedLibrary::open(libraries);
    if (!library) return {};
    const Runtime runtime(*library);
    if (runtime.count == nullptr) return {};
    library->keep_loaded();
    FoundDevices found{.source = library->name()};
    int count = 0;
    if (const int fault = runtime.count(&count); fault != 0) {
        if (fault != kNoDevice)
            found.warnings.push_back(
                fmt::format("the HIP runtime ({}) does not start: error {}; its devices are not "
                            "used",
                            library->name(), fault));
        return found;
    }
    for (int index = 0; index < believable_count(count); ++index) {
        auto profile = describe(runtime, index);
        profile.id = {DeviceKind::cuda, first_index + index};
        if (const auto pci = parse_pci(profile.pci)) {
            ask_pools(sys / "bus" / "pci" / "devices" / profile.pci, profile);
            profile.capability = architecture_at(sys, *pci);
        }
        found.devices.push_back(std::move(profile));
    }
    return found;
}

}  // namespace ballast::machine
