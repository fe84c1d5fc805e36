// Stands for libamdhip64.so.

#include "tests/fakes/fake_hip.hpp"

#include "tests/fakes/careless_copy.hpp"

namespace {

ballast::testing::FakeHip state;

ballast::testing::FakeHipDevice& device_at(int device) {
    return state.devices.at(static_cast<std::size_t>(device % 4));
}

}  // namespace

extern "C" {

ballast::testing::FakeHip* fake_control() { return &state; }

int hipGetDeviceCount(int* count) {
    *count = state.count;
    return state.count_fault;
}

int hipDeviceGetName(char* name, int length, int device) {
    ballast::testing::careless_copy(device_at(device).name, name, length);
    return device_at(device).name_fault;
}

int hipDeviceTotalMem(std::size_t* bytes, int device) {
    *bytes = device_at(device).total;
    return device_at(device).total_fault;
}

int hipDeviceGetAttribute(int* value, int attribute, int device) {
    constexpr int kIntegrated = 16;
    *value = attribute == kIntegrated ? device_at(device).integrated : 1;
    return device_at(device).attribute_fault;
}

int hipDeviceGetPCIBusId(char* text, int length, int device) {
    ballast::testing::careless_copy(device_at(device).pci, text, length);
    return 0;
}

int hipSetDevice(int) { return ++state.context_calls; }
int hipMemGetInfo(std::size_t*, std::size_t*) { return ++state.context_calls; }
int hipMalloc(void**, std::size_t) { return ++state.context_calls; }
int hipCtxCreate(void**, unsigned, int) { return ++state.context_calls; }

}  // extern "C"
