// Stands for libze_loader.so.1. The structures are written as offsets, not by the headers of the
// program under test.

#include "tests/fakes/fake_level_zero.hpp"

#include <algorithm>
#include <cstring>

#include "tests/fakes/careless_copy.hpp"

namespace {

using ballast::testing::FakeLevelZeroDevice;

ballast::testing::FakeLevelZero state;

template <typename Value>
void put(void* structure, std::size_t offset, Value value) {
    std::memcpy(static_cast<char*>(structure) + offset, &value, sizeof value);
}

/// Whether the caller said which structure this is.
bool is_of_type(const void* structure, std::uint32_t type) {
    return std::memcmp(structure, &type, sizeof type) == 0;
}

}  // namespace

extern "C" {

ballast::testing::FakeLevelZero* fake_control() { return &state; }

int zeInit(std::uint32_t) { return state.init_fault; }

int zeDriverGet(std::uint32_t* count, void** drivers) {
    if (drivers != nullptr)
        for (std::uint32_t i = 0; i < std::min(*count, state.drivers); ++i) drivers[i] = &state;
    *count = state.drivers;
    return 0;
}

int zeDeviceGet(void*, std::uint32_t* count, void** devices) {
    const auto told = state.claimed_devices != 0 ? state.claimed_devices : state.devices;
    if (devices != nullptr)
        for (std::uint32_t i = 0; i < std::min(*count, state.devices); ++i)
            devices[i] = &state.device.at(i);
    *count = told;
    return 0;
}

int zeDeviceGetProperties(void* handle, void* properties) {
    const auto& device = *static_cast<FakeLevelZeroDevice*>(handle);
    if (!is_of_type(properties, 0x3)) return 1;
    put(properties, 16, device.type);
    put(properties, 20, device.vendor);
    put(properties, 28, device.flags);
    put(properties, 96, std::uint64_t{0x0102030405060708});
    put(properties, 104, std::uint64_t{0});
    ballast::testing::careless_copy(device.name, static_cast<char*>(properties) + 112, 256);
    return device.properties_fault;
}

int zeDeviceGetMemoryProperties(void* handle, std::uint32_t* count, void* memories) {
    const auto& device = *static_cast<FakeLevelZeroDevice*>(handle);
    if (memories != nullptr)
        for (std::uint32_t i = 0; i < std::min(*count, 2U); ++i) {
            auto* memory = static_cast<char*>(memories) + i * std::size_t{296};
            if (!is_of_type(memory, 0x7)) return 1;
            put(memory, 32, device.memories.at(i));
        }
    *count = 2;
    return device.memory_fault;
}

int zeDevicePciGetPropertiesExt(void* handle, void* properties) {
    if (!is_of_type(properties, 0x10008)) return 1;
    put(properties, 20, static_cast<FakeLevelZeroDevice*>(handle)->bus);
    return 0;
}

int zeContextCreate(void*, const void*, void**) { return ++state.context_calls; }
int zeMemAllocDevice(void*, const void*, std::size_t, std::size_t, void*, void**) {
    return ++state.context_calls;
}

}  // extern "C"
