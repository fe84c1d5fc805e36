#pragma once
// Plans as JSON and as text for people.

#include <string>

#include "ballast/cli/console.hpp"
#include "ballast/engine/plan/planner.hpp"

namespace ballast::cli {

/// One plan with the keys that `ballast plan --json` documents.
Json plan_json(const plan::PlanRequest& request, const plan::Plan& plan);

enum class Detail { summary, everything };

/// A bar for each device, what does not fit, warnings; with everything also reasons and blocks.
std::string plan_text(const plan::PlanRequest& request, const plan::Plan& plan, Detail detail);

}  // namespace ballast::cli
