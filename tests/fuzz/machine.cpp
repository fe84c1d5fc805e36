// Machine profiles and the kernel's memory report, from strangers: read, judged, written and read
// again, without a crash and without a figure that contradicts another.
//
// Seeds: profiles/*.json tests/cases/36-meminfo-shmem.txt

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ballast/engine/machine/advice.hpp"
#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/machine/discovery/meminfo.hpp"
#include "ballast/engine/machine/profile_json.hpp"

namespace {

using namespace ballast;

void judge(const machine::MachineProfile& profile) {
    const auto assessment = machine::assess(profile, {});
    for (const auto& device : assessment.devices) {
        if (device.free.bytes && device.total && *device.free.bytes > *device.total) std::abort();
        if (device.budget.weights_now && device.free.bytes &&
            *device.budget.weights_now > *device.free.bytes)
            std::abort();
    }
    static_cast<void>(machine::memory_findings(profile, assessment, {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    judge({.host = machine::parse_meminfo(text)});
    const auto loaded = machine::parse_profile(text, "fuzz");
    if (!loaded) return 0;
    judge(loaded->profile);
    const auto again = machine::parse_profile(machine::to_json_text(loaded->profile), "again");
    if (!again) std::abort();
    return 0;
}
