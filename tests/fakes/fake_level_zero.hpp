#pragma once
// What the fake of the Level Zero loader answers.

#include <array>
#include <cstdint>

namespace ballast::testing {

struct FakeLevelZeroDevice {
    const char* name = "Intel(R) Arc(TM) A770 Graphics";
    std::uint32_t type = 1;  ///< GPU
    std::uint32_t vendor = 0x8086;
    std::uint32_t flags = 0;
    std::array<std::uint64_t, 2> memories{std::uint64_t{16} << 30U, 0};
    std::uint32_t bus = 3;
    int properties_fault = 0;
    int memory_fault = 0;
};

struct FakeLevelZero {
    int init_fault = 0;
    std::uint32_t drivers = 1;  ///< each has all devices
    std::uint32_t devices = 1;
    std::uint32_t claimed_devices = 0;  ///< told instead of `devices`, if not 0
    std::array<FakeLevelZeroDevice, 4> device{};
    int context_calls = 0;
};

}  // namespace ballast::testing
