// device_check DEVICE: whether Ballast can be trusted with an accelerator of this machine. Prints a
// line per check; exit status 0 if all have passed, 1 if not, 2 if there is no such device.

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "ballast/runtime/tensor/accelerator_libraries.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "ballast/runtime/tensor/torch_device.hpp"
#include "tests/device_check/checks.hpp"

namespace {

using namespace ballast;
using device_check::Outcome;

struct Check {
    const char* name;
    Outcome (*run)(const std::shared_ptr<device::Device>& device);
};

constexpr std::array kChecks{
    Check{"device behaviour", &device_check::behaves},
    Check{"golden network", &device_check::computes},
    Check{"limit", &device_check::keeps_limits},
    Check{"load and free", &device_check::gives_memory_back},
};

std::shared_ptr<device::Device> find(const std::string& name) {
    const auto wanted = parse_device(name);
    std::string known;
    for (const auto& device : runtime::torch_devices()) {
        if (device->id() == wanted) return device;
        known += (known.empty() ? "" : ", ") + to_string(device->id());
    }
    fmt::print(stderr, "error: {} has no device {}; it has {}\n", runtime::ops::torch_version(),
               name, known.empty() ? "none: use a libtorch for accelerators (--torch)" : known);
    return nullptr;
}

bool has_passed(const Check& check, const std::shared_ptr<device::Device>& device) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = runtime::guarded("failed", [&] { return check.run(device); });
    const Outcome outcome = result ? *std::move(result) : Outcome{false, to_string(result.error())};
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fmt::print("{}  {:<16}  {:6.1f} s  {}\n", outcome.has_passed ? "PASS" : "FAIL", check.name,
               seconds.count(), outcome.figures);
    static_cast<void>(std::fflush(stdout));
    return outcome.has_passed;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        fmt::print(stderr, "usage: device_check DEVICE (cuda:0, xpu:0, mps, ...)\n");
        return 2;
    }
    for (const auto& failure : runtime::load_accelerator_libraries().failures)
        fmt::print(stderr, "warning: {}; {}\n", to_string(failure), failure.hint);
    const auto device = find(arguments[1]);
    if (device == nullptr) return 2;
    // a device that sleeps does not say what is free
    if (const auto woken = device->open_stream(); !woken)
        fmt::print(stderr, "warning: {}\n", to_string(woken.error()));
    const auto memory = device->memory();
    fmt::print("{} with {}: {} free of {}\n", to_string(device->id()),
               runtime::ops::torch_version(), to_string(memory.free.value_or(Bytes{})),
               to_string(memory.total.value_or(Bytes{})));
    bool all = true;
    for (const auto& check : kChecks) all = has_passed(check, device) && all;
    return all ? 0 : 1;
}
