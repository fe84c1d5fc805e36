#pragma once
// The devices that nodes offer for a choice.

#include <string>
#include <vector>

#include "ballast/engine/core/device_id.hpp"

namespace ballast::graph {

/// The devices of one machine that a workflow may name: cpu first, whether listed or not, then the
/// accelerators by kind and index. A value. The disk is none of them, for it stores only.
class Devices {
public:
    explicit Devices(const std::vector<DeviceId>& present = {});

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Where models compute unless the user says otherwise: the first accelerator, else cpu.
    [[nodiscard]] const std::string& preferred() const { return names_[names_.size() > 1 ? 1 : 0]; }

private:
    std::vector<std::string> names_;
};

}  // namespace ballast::graph
