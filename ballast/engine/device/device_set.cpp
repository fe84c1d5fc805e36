#include "ballast/engine/device/device_set.hpp"

#include <algorithm>

namespace ballast::device {

DeviceSet::DeviceSet(std::vector<std::shared_ptr<Device>> devices) : devices_(std::move(devices)) {
    const auto name = [](const std::shared_ptr<Device>& device) { return device->id(); };
    std::ranges::stable_sort(devices_, {}, name);
    const auto twice = std::ranges::unique(devices_, {}, name);
    devices_.erase(twice.begin(), twice.end());
}

Device* DeviceSet::find(DeviceId id) const {
    const auto found = std::ranges::find_if(
        devices_, [&](const std::shared_ptr<Device>& device) { return device->id() == id; });
    return found == devices_.end() ? nullptr : found->get();
}

}  // namespace ballast::device
