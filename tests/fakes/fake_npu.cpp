// Stands for libascendcl.so and for libcndrv.so.

#include "tests/fakes/fake_npu.hpp"

#include <cstdint>

#include "tests/fakes/careless_copy.hpp"

namespace {

ballast::testing::FakeNpu state;

}  // namespace

extern "C" {

ballast::testing::FakeNpu* fake_control() { return &state; }

int aclInit(const char*) { return state.init_answer; }

int aclrtGetDeviceCount(std::uint32_t* count) {
    *count = static_cast<std::uint32_t>(state.count);
    return 0;
}

const char* aclrtGetSocName() { return state.name; }

int cnInit(unsigned) { return state.init_answer; }

int cnDeviceGetCount(int* count) {
    *count = state.count;
    return 0;
}

// a handle of 32 bits, as some versions have it
int cnDeviceGet(std::int64_t* device, int index) {
    *reinterpret_cast<std::int32_t*>(device) = index;
    return 0;
}

int cnDeviceGetName(char* name, int length, std::int64_t device) {
    if (device < 0 || device >= state.count) return 1;
    ballast::testing::careless_copy(state.name, name, length);
    return 0;
}

}  // extern "C"
