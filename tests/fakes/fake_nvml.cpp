// Stands for libnvidia-ml.so.1 and for libixml.so.

#include "tests/fakes/fake_nvml.hpp"

#include <cstring>

#include "tests/fakes/careless_copy.hpp"

namespace {

ballast::testing::FakeNvml state;
int any_device = 0;

}  // namespace

extern "C" {

struct FakeNvmlMemory {
    unsigned long long total, free, used;
};

ballast::testing::FakeNvml* fake_control() { return &state; }

int nvmlInit_v2() {
    if (state.init_fault == 0) ++state.started;
    return state.init_fault;
}

int nvmlShutdown() {
    --state.started;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(state.count);
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
    *device = &any_device;
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** device) {
    if (std::strcmp(pci, state.expected_pci) != 0) return 6;
    *device = &any_device;
    return 0;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
    ballast::testing::careless_copy(state.name, name, static_cast<int>(length));
    return 0;
}

int nvmlDeviceGetMemoryInfo(void*, FakeNvmlMemory* memory) {
    *memory = {state.total, state.free, state.total - state.free};
    return state.memory_fault;
}

}  // extern "C"
