#pragma once
// Plans as a picture.

#include <span>
#include <string>
#include <string_view>

#include "ballast/engine/plan/planner.hpp"

namespace ballast::cli {

/// One model's plan, and what to call it.
struct ChartModel {
    std::string_view name;
    const plan::PlanRequest& request;
    const plan::Plan& plan;
};

/// The plans as an SVG document that needs nothing else: for each model a group, for each device a
/// bar of what it would hold and of what is left. All lengths have one scale, that of the
/// accelerators; where a larger device has more room than the picture, the rest of it is cut off.
/// What a device lacks is red. Bars carry their bytes as `data-bytes`. Equal plans give equal text.
std::string plan_chart(std::span<const ChartModel> models);

}  // namespace ballast::cli
