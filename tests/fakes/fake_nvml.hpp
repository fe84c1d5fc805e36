#pragma once
// What the fake of NVIDIA's management library answers.

namespace ballast::testing {

struct FakeNvml {
    int init_fault = 0;
    int count = 1;
    const char* name = "Iluvatar BI-V150";
    const char* expected_pci = "0000:01:00.0";  ///< other addresses are not found
    int memory_fault = 0;
    unsigned long long total = 24ULL << 30U;
    unsigned long long free = 20ULL << 30U;
    int started = 0;  ///< starts minus shutdowns
};

}  // namespace ballast::testing
