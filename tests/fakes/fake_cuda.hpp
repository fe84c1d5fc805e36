#pragma once
// What the fake of NVIDIA's driver library answers.

#include <array>
#include <cstddef>

namespace ballast::testing {

struct FakeCudaDevice {
    const char* name = "NVIDIA GeForce RTX 4090";
    const char* pci = "0000:01:00.0";
    std::size_t total = std::size_t{24} << 30U;
    std::array<int, 256> attributes{};
    std::array<int, 256> attribute_faults{};
    int device_fault = 0;
    int name_fault = 0;
    int total_fault = 0;
    int pci_fault = 0;
};

struct FakeCuda {
    int init_fault = 0;
    int count_fault = 0;
    int count = 1;
    std::array<FakeCudaDevice, 4> devices{};
    int context_calls = 0;  ///< of functions that create or need a context
};

}  // namespace ballast::testing
