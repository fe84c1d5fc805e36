#pragma once
// The devices of one machine, by name.

#include <memory>
#include <span>
#include <vector>

#include "ballast/engine/device/device.hpp"

namespace ballast::device {

class DeviceSet {
public:
    /// Of two devices with one name the first one counts.
    explicit DeviceSet(std::vector<std::shared_ptr<Device>> devices);

    /// Null if there is no such device.
    [[nodiscard]] Device* find(DeviceId id) const;
    /// The processor first, then by kind and index.
    [[nodiscard]] std::span<const std::shared_ptr<Device>> all() const { return devices_; }

private:
    std::vector<std::shared_ptr<Device>> devices_;
};

}  // namespace ballast::device
