#pragma once
// Plans as JSON and as text for people.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ballast/cli/console.hpp"
#include "ballast/engine/plan/planner.hpp"

namespace ballast::cli {

/// One model's plan, and what to call it.
struct NamedPlan {
    std::string_view name;
    const plan::PlanRequest& request;
    const plan::Plan& plan;
};

/// One plan with the keys that `ballast plan --json` documents.
Json plan_json(const plan::PlanRequest& request, const plan::Plan& plan);

enum class Detail { summary, everything };

/// A bar for each device, what does not fit, warnings; with everything also reasons and blocks.
std::string plan_text(const plan::PlanRequest& request, const plan::Plan& plan, Detail detail);

/// What each device lacks, in the plan in which it lacks most.
Shortfalls shortfall_of(std::span<const NamedPlan> plans);

inline constexpr std::string_view kExplainHint = "--explain says what would make it fit";

/// `does_not_fit` for plans of which one at least does not. `what` is what was planned.
Error refusal_of(std::span<const NamedPlan> plans, std::string_view what, std::string hint);

}  // namespace ballast::cli
