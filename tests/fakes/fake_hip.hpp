#pragma once
// What the fake of AMD's runtime answers.

#include <array>
#include <cstddef>

namespace ballast::testing {

struct FakeHipDevice {
    const char* name = "Radeon 8060S Graphics";
    const char* pci = "0000:c5:00.0";
    std::size_t total = std::size_t{62} << 30U;
    int integrated = 1;
    int attribute_fault = 0;
    int name_fault = 0;
    int total_fault = 0;
};

struct FakeHip {
    int count_fault = 0;
    int count = 1;
    std::array<FakeHipDevice, 4> devices{};
    int context_calls = 0;  ///< of functions that create or need a context
};

}  // namespace ballast::testing
