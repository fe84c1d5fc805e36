#pragma once
// What the fake of the Ascend and Cambricon libraries answers.

namespace ballast::testing {

struct FakeNpu {
    int init_answer = 0;
    int count = 2;
    const char* name = "Ascend910B2";
};

}  // namespace ballast::testing
