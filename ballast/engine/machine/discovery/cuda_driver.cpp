#include "ballast/engine/machine/discovery/cuda_driver.hpp"

#include <fmt/format.h>

#include <array>

#include "ballast/engine/machine/discovery/nvml.hpp"
#include "ballast/engine/machine/discovery/pci_address.hpp"
#include "ballast/engine/machine/discovery/shared_library.hpp"

namespace ballast::machine {
namespace {

constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE: a driver without a card is no fault

/// CUdevice_attribute
enum Attribute {
    integrated = 18,
    capability_major = 75,
    capability_minor = 76,
    managed = 83,
    pageable_access = 88,
    concurrent_managed = 89,
    host_page_tables = 100,
    direct_managed_host = 101,
    numa_config = 130,  // 1: its memory is a NUMA node
};

/// The functions that need no context; each may be missing.
struct Driver {
    explicit Driver(const SharedLibrary& library)
        : count(library.find<int(int*)>("cuDeviceGetCount")),
          device(library.find<int(int*, int)>("cuDeviceGet")),
          name(library.find<int(char*, int, int)>("cuDeviceGetName")),
          total(library.find<int(std::size_t*, int)>("cuDeviceTotalMem_v2")),
          attribute(library.find<int(int*, int, int)>("cuDeviceGetAttribute")),
          uuid(library.find<int(unsigned char*, int)>("cuDeviceGetUuid_v2")),
          pci(library.find<int(char*, int, int)>("cuDeviceGetPCIBusId")) {
        if (uuid == nullptr) uuid = library.find<int(unsigned char*, int)>("cuDeviceGetUuid");
    }

    int (*count)(int*);
    int (*device)(int*, int);
    int (*name)(char*, int, int);
    int (*total)(std::size_t*, int);
    int (*attribute)(int*, int, int);
    int (*uuid)(unsigned char*, int);
    int (*pci)(char*, int, int);
};

std::optional<int> number(const Driver& driver, Attribute attribute, int device) {
    int value = 0;
    if (!succeeds(driver.attribute, &value, attribute, device)) return std::nullopt;
    return value;
}

/// Unknown unless the driver says 0 or 1.
std::optional<bool> claim(const Driver& driver, Attribute attribute, int device) {
    const auto value = number(driver, attribute, device);
    if (value == 0) return false;
    if (value == 1) return true;
    return std::nullopt;
}

std::string text_from(int (*ask)(char*, int, int), int device) {
    std::array<char, 257> text{};  // one more than the driver is told, so that it always ends
    return succeeds(ask, text.data(), 256, device) ? driver_text(text) : "";
}

std::string capability_of(const Driver& driver, int device) {
    const auto major = number(driver, capability_major, device);
    const auto minor = number(driver, capability_minor, device);
    if (!major || !minor || *major < 1 || *major > 99 || *minor < 0 || *minor > 99) return {};
    return fmt::format("{}.{}", *major, *minor);
}

void ask_attributes(const Driver& driver, int device, DeviceProfile& profile) {
    profile.integrated = claim(driver, integrated, device);
    if (!profile.integrated) profile.query_fails.push_back(Query::attributes);
    profile.attributes = {
        .pageable_access = claim(driver, pageable_access, device),
        .host_page_tables = claim(driver, host_page_tables, device),
        .managed = claim(driver, managed, device),
        .concurrent_managed = claim(driver, concurrent_managed, device),
        .direct_managed_host = claim(driver, direct_managed_host, device),
        .own_memory_node = claim(driver, numa_config, device),
    };
    profile.capability = capability_of(driver, device);
}

DeviceProfile describe(const Driver& driver, int index) {
    DeviceProfile profile;
    profile.id = {DeviceKind::cuda, index};
    profile.vendor = "nvidia";
    int device = 0;
    if (!succeeds(driver.device, &device, index)) {
        profile.query_fails = {Query::attributes, Query::total, Query::name};
        return profile;
    }
    ask_attributes(driver, device, profile);
    std::size_t total = 0;
    if (succeeds(driver.total, &total, device)) profile.total = believable_bytes(total);
    if (!profile.total) profile.query_fails.push_back(Query::total);
    profile.name = text_from(driver.name, device);
    if (profile.name.empty()) profile.query_fails.push_back(Query::name);
    std::array<unsigned char, 16> uuid{};
    if (succeeds(driver.uuid, uuid.data(), device)) profile.uuid = "GPU-" + uuid_text(uuid);
    if (const auto pci = parse_pci(text_from(driver.pci, device))) profile.pci = to_string(*pci);
    return profile;
}

/// A slice of a card (MIG) has the card's address, but not its memory: figures of much more than
/// the device's own are not its own.
bool is_of_another(const ManagedMemory& memory, const DeviceProfile& profile) {
    if (!memory.total || !profile.total) return false;
    return memory.total->count() / 9 > profile.total->count() / 8;
}

void ask_free(const Nvml& nvml, DeviceProfile& profile) {
    const auto memory = nvml.memory_at(profile.pci);
    if (memory.is_unsupported) profile.query_fails.push_back(Query::free);
    if (!memory.free || is_of_another(memory, profile)) return;
    profile.free = profile.total ? std::min(*memory.free, *profile.total) : *memory.free;
}

}  // namespace

FoundDevices cuda_devices(std::span<const std::string> libraries,
                          std::span<const std::string> nvml_libraries) {
    auto library = SharedLibrary::open(libraries);
    if (!library) return {};
    const auto init = library->find<int(unsigned)>("cuInit");
    if (init == nullptr) return {};
    library->keep_loaded();
    FoundDevices found{.source = library->name()};
    if (const int fault = init(0); fault != 0) {
        if (fault != kNoDevice)
            found.warnings.push_back(fmt::format(
                "the NVIDIA driver ({}) does not start: CUDA error {}; its devices are not used",
                library->name(), fault));
        return found;
    }
    const Driver driver(*library);
    int count = 0;
    if (!succeeds(driver.count, &count)) return found;
    for (int index = 0; index < believable_count(count); ++index)
        found.devices.push_back(describe(driver, index));
    if (found.devices.empty()) return found;
    if (const auto nvml = Nvml::open(nvml_libraries))
        for (auto& device : found.devices) ask_free(*nvml, device);
    return found;
}

}  // namespace ballast::machine
