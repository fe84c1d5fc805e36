#pragma once
// The structures of Level Zero (oneAPI specification 1.x, ze_api.h) that discovery passes to the
// loader, by their layout. A driver fills what `type` says is there.

#include <array>
#include <cstddef>
#include <cstdint>

namespace ballast::machine::level_zero {

inline constexpr std::uint32_t kDeviceProperties = 0x3;
inline constexpr std::uint32_t kMemoryProperties = 0x7;
inline constexpr std::uint32_t kPciProperties = 0x10008;

inline constexpr std::uint32_t kGraphicsDevicesOnly = 1;  ///< for zeInit
inline constexpr std::uint32_t kGraphicsDevice = 1;       ///< DeviceProperties::device_type
inline constexpr std::uint32_t kIntegrated = 1;           ///< bit 0 of DeviceProperties::flags

/// ze_device_properties_t
struct DeviceProperties {
    std::uint32_t type = kDeviceProperties;
    void* next = nullptr;
    std::uint32_t device_type = 0;
    std::uint32_t vendor = 0;
    std::uint32_t device = 0;
    std::uint32_t flags = 0;
    std::uint32_t subdevice = 0;
    std::uint32_t core_clock_mhz = 0;
    std::uint64_t largest_allocation = 0;
    std::uint32_t hardware_contexts = 0;
    std::uint32_t command_queue_priorities = 0;
    std::uint32_t threads_per_unit = 0;
    std::uint32_t simd_width = 0;
    std::uint32_t units_per_subslice = 0;
    std::uint32_t subslices_per_slice = 0;
    std::uint32_t slices = 0;
    std::uint64_t timer_resolution = 0;
    std::uint32_t timestamp_bits = 0;
    std::uint32_t kernel_timestamp_bits = 0;
    std::array<unsigned char, 16> uuid{};
    std::array<char, 256> name{};
};
static_assert(offsetof(DeviceProperties, largest_allocation) == 40);
static_assert(offsetof(DeviceProperties, timer_resolution) == 80);
static_assert(offsetof(DeviceProperties, name) == 112 && sizeof(DeviceProperties) == 368);

/// ze_device_memory_properties_t
struct MemoryProperties {
    std::uint32_t type = kMemoryProperties;
    void* next = nullptr;
    std::uint32_t flags = 0;
    std::uint32_t clock_mhz = 0;
    std::uint32_t bus_width = 0;
    std::uint64_t total = 0;
    std::array<char, 256> name{};
};
static_assert(offsetof(MemoryProperties, total) == 32 && sizeof(MemoryProperties) == 296);

/// ze_pci_ext_properties_t
struct PciProperties {
    std::uint32_t type = kPciProperties;
    void* next = nullptr;
    std::uint32_t domain = 0;
    std::uint32_t bus = 0;
    std::uint32_t device = 0;
    std::uint32_t function = 0;
    std::int32_t generation = 0;
    std::int32_t lanes = 0;
    std::int64_t bytes_per_second = 0;
};
static_assert(offsetof(PciProperties, bytes_per_second) == 40 && sizeof(PciProperties) == 48);

}  // namespace ballast::machine::level_zero
