// Stands for libcuda.so.1. FAKE_OLD leaves out what old drivers do not have, and more.

#include "tests/fakes/fake_cuda.hpp"

#include "tests/fakes/careless_copy.hpp"

namespace {

ballast::testing::FakeCuda state;

ballast::testing::FakeCudaDevice& device_at(int device) {
    return state.devices.at(static_cast<std::size_t>(device - 100));
}

}  // namespace

extern "C" {

ballast::testing::FakeCuda* fake_control() { return &state; }

int cuInit(unsigned) { return state.init_fault; }

int cuDeviceGetCount(int* count) {
    *count = state.count;
    return state.count_fault;
}

// handles are not indices
int cuDeviceGet(int* device, int index) {
    *device = 100 + index % 4;
    return device_at(*device).device_fault;
}

int cuDeviceGetName(char* name, int length, int device) {
    ballast::testing::careless_copy(device_at(device).name, name, length);
    return device_at(device).name_fault;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
    const auto index = static_cast<std::size_t>(attribute);
    *value = device_at(device).attributes.at(index);
    return device_at(device).attribute_faults.at(index);
}

#ifndef FAKE_OLD
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    *bytes = device_at(device).total;
    return device_at(device).total_fault;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int) {
    for (unsigned char i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i * 0x11);
    return 0;
}

int cuDeviceGetPCIBusId(char* text, int length, int device) {
    ballast::testing::careless_copy(device_at(device).pci, text, length);
    return device_at(device).pci_fault;
}
#endif

int cuDeviceGetUuid(unsigned char* uuid, int) {
    for (int i = 0; i < 16; ++i) uuid[i] = 0xAB;
    return 0;
}

int cuCtxCreate_v2(void**, unsigned, int) { return ++state.context_calls; }
int cuCtxSetCurrent(void*) { return ++state.context_calls; }
int cuDevicePrimaryCtxRetain(void**, int) { return ++state.context_calls; }
int cuMemGetInfo_v2(std::size_t*, std::size_t*) { return ++state.context_calls; }
int cuMemAlloc_v2(void*, std::size_t) { return ++state.context_calls; }

}  // extern "C"
