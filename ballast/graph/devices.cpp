#include "ballast/graph/devices.hpp"

#include <array>
#include <set>

namespace ballast::graph {

Devices::Devices(const std::vector<DeviceId>& present) {
    using enum DeviceKind;
    // the order in which ComfyUI-MultiGPU looks for them; what it does not know comes last
    constexpr std::array kAccelerators{cuda, xpu, npu, mlu, mps, directml, corex, privateuseone};
    const std::set<DeviceId> sorted(present.begin(), present.end());
    names_.push_back(to_string(kCpu));
    for (const auto kind : kAccelerators)
        for (const auto device : sorted)
            if (device.kind == kind) names_.push_back(to_string(device));
}

}  // namespace ballast::graph
