// Promises: the machine is known in under 50 ms, without measuring anything and without a context
// on any device; classes, budgets and choices of 64 devices are decided in under 1 ms.

#include <cstdlib>
#include <utility>

#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/machine/discovery/discover.hpp"
#include "benchmarks/support/report.hpp"
#include "benchmarks/support/timing.hpp"

namespace {

using namespace ballast;

constexpr double kPromisedDiscoveryMs = 50;
constexpr double kPromisedDecisionMs = 1;

/// 64 devices of all kinds of memory.
machine::MachineProfile large_machine() {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    machine::MachineProfile profile{
        .host = {.total = Bytes{1024 * kGiB}, .available = Bytes{1000 * kGiB}}};
    for (int i = 0; i < 64; ++i) {
        const bool is_silent = i % 4 == 0;
        profile.devices.push_back(
            {.id = {i % 8 == 7 ? DeviceKind::xpu : DeviceKind::cuda, i},
             .name = i % 3 == 0 ? "NVIDIA GB200" : "NVIDIA GeForce RTX 4090",
             .vendor = i % 5 == 0 ? "amd" : "nvidia",
             .total = Bytes{24 * kGiB},
             .free = Bytes{23 * kGiB},
             .integrated = is_silent ? std::nullopt : std::optional(i % 2 == 0),
             .capability = "8.9",
             .types = {"fp16", "bf16"}});
    }
    return profile;
}

}  // namespace

int main(int argc, char** argv) {
    const auto first =
        benchmarks::time_once([] { static_cast<void>(machine::discover({})); }) * 1e3;
    const auto again =
        benchmarks::time_once([] { static_cast<void>(machine::discover({})); }) * 1e3;
    const auto profile = large_machine();
    std::size_t devices = 0;
    const auto assess = [&] { devices += machine::assess(profile, {}).devices.size(); };
    const auto cold = benchmarks::time_once(assess) * 1e3;
    constexpr int kRounds = 100;
    const auto warm = benchmarks::time_once([&] {
                          for (int i = 0; i < kRounds; ++i) assess();
                      }) *
                      1e3 / kRounds;
    if (devices != 65 * (kRounds + 1)) return EXIT_FAILURE;
    benchmarks::print_report(
        {{"machine.discover_first", first, "ms", kPromisedDiscoveryMs, "promised"},
         {"machine.discover", again, "ms", kPromisedDiscoveryMs, "promised"},
         {"machine.decide_64_first", cold, "ms", kPromisedDecisionMs, "promised"},
         {"machine.decide_64", warm, "ms", kPromisedDecisionMs, "promised"}},
        benchmarks::output_asked_for(argc, argv));
    return EXIT_SUCCESS;
}
