#pragma once
// The tables that ComfyUI-MultiGPU prints when it distributes a model, with its titles and column
// widths, so that who reads its logs reads ours. "GB" in them means GiB, "MB" MiB.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/plan/cost_model.hpp"
#include "ballast/engine/plan/placement.hpp"

namespace ballast::plan {

/// A placed model. All figures are made of these values.
struct DistributedModel {
    std::span<const PlanBlock> blocks{};  ///< in model order
    std::span<const DeviceId> homes{};    ///< one per block
    DeviceId compute{};
    Policy policy{};                       ///< what was asked for
    std::vector<PresentDevice> devices{};  ///< all of the machine, with their memory
};

/// Line by line: what virtual memory moves (in mode virtual only), what each device was granted,
/// the layers by type, and where they are. The grant of a device is its quota as far as the model
/// reaches, in typed order; the remainder's device is granted the rest.
///
/// Accelerators stand in the order of their texts (cuda:10 before cuda:2), then cpu, then disk,
/// which has no size. Percentages and sizes are rounded to the nearest digit, from the middle to
/// the even one. A block counts once: in the row of tiny ones of the compute device, if it is one
/// there, else in its device's row.
std::vector<std::string> distribution_tables(const DistributedModel& model);

/// What to warn of beside the tables: a model that takes more than nine tenths of the compute
/// device's memory, and the virtual memory that it needs. Empty in other modes than virtual.
std::vector<std::string> distribution_warnings(const DistributedModel& model);

/// Announces the allocation of a load: a title, and the text on a line of its own.
std::vector<std::string> allocation_lines(std::string_view allocation);

/// Tells that a model of that size is loaded.
std::vector<std::string> loaded_lines(Bytes model);

}  // namespace ballast::plan
