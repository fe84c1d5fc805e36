#include "ballast/engine/machine/discovery/level_zero.hpp"

#include <algorithm>

#include "ballast/engine/machine/discovery/level_zero_layout.hpp"
#include "ballast/engine/machine/discovery/pci_address.hpp"
#include "ballast/engine/machine/discovery/shared_library.hpp"

namespace ballast::machine {
namespace {

using namespace level_zero;

constexpr std::uint32_t kIntel = 0x8086;

/// Each function may be missing.
struct Loader {
    explicit Loader(const SharedLibrary& library)
        : drivers(library.find<int(std::uint32_t*, void**)>("zeDriverGet")),
          devices(library.find<int(void*, std::uint32_t*, void**)>("zeDeviceGet")),
          properties(library.find<int(void*, DeviceProperties*)>("zeDeviceGetProperties")),
          memories(library.find<int(void*, std::uint32_t*, MemoryProperties*)>(
              "zeDeviceGetMemoryProperties")),
          pci(library.find<int(void*, PciProperties*)>("zeDevicePciGetPropertiesExt")) {}

    int (*drivers)(std::uint32_t*, void**);
    int (*devices)(void*, std::uint32_t*, void**);
    int (*properties)(void*, DeviceProperties*);
    int (*memories)(void*, std::uint32_t*, MemoryProperties*);
    int (*pci)(void*, PciProperties*);
};

/// A list that is asked for twice: how long it is, then what is in it. `ask(count, array)` is true
/// on success.
template <typename Element, typename Ask>
std::vector<Element> list_from(const Ask& ask) {
    std::uint32_t count = 0;
    if (!ask(&count, static_cast<Element*>(nullptr))) return {};
    std::vector<Element> list(static_cast<std::size_t>(believable_count(count)));
    count = static_cast<std::uint32_t>(list.size());
    if (list.empty() || !ask(&count, list.data())) return {};
    list.resize(std::min<std::size_t>(count, list.size()));
    return list;
}

std::optional<Bytes> total_of(const Loader& loader, void* device) {
    const auto memories =
        list_from<MemoryProperties>([&](std::uint32_t* count, MemoryProperties* list) {
            return succeeds(loader.memories, device, count, list);
        });
    Bytes sum;
    for (const auto& memory : memories) sum += Bytes{memory.total};
    return believable_bytes(sum.count());
}

/// Nothing for what is no graphics device or does not say.
std::optional<DeviceProfile> describe(const Loader& loader, void* device) {
    DeviceProperties properties;
    if (device == nullptr || !succeeds(loader.properties, device, &properties) ||
        properties.device_type != kGraphicsDevice)
        return std::nullopt;
    DeviceProfile profile;
    if (properties.vendor == kIntel) profile.vendor = "intel";
    profile.name = driver_text(properties.name);
    if (profile.name.empty()) profile.query_fails.push_back(Query::name);
    profile.integrated = (properties.flags & kIntegrated) != 0;
    profile.uuid = uuid_text(properties.uuid);
    profile.total = total_of(loader, device);
    if (!profile.total) profile.query_fails.push_back(Query::total);
    PciProperties pci;
    if (succeeds(loader.pci, device, &pci))
        if (const auto address =
                parse_pci(to_string(PciAddress{pci.domain, pci.bus, pci.device, pci.function})))
            profile.pci = to_string(*address);
    return profile;
}

}  // namespace

FoundDevices level_zero_devices(std::span<const std::string> libraries) {
    auto library = SharedLibrary::open(libraries);
    if (!library) return {};
    const auto init = library->find<int(std::uint32_t)>("zeInit");
    if (init == nullptr) return {};
    library->keep_loaded();
    FoundDevices found{.source = library->name()};
    // a loader without a driver below it fails here, which is no fault
    if (init(kGraphicsDevicesOnly) != 0) return found;
    const Loader loader(*library);
    const auto drivers = list_from<void*>(
        [&](std::uint32_t* count, void** list) { return succeeds(loader.drivers, count, list); });
    for (auto* driver : drivers) {
        const auto devices = list_from<void*>([&](std::uint32_t* count, void** list) {
            return succeeds(loader.devices, driver, count, list);
        });
        for (auto* device : devices) {
            auto profile = describe(loader, device);
            if (!profile) continue;
            profile->id = {DeviceKind::xpu, static_cast<int>(found.devices.size())};
            found.devices.push_back(*std::move(profile));
        }
    }
    return found;
}

}  // namespace ballast::machine
