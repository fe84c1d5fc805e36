#pragma once
// What freeing memory gave back, and what is loaded, for scripts.

#include "ballast/cli/console.hpp"
#include "ballast/engine/residency/free_flow.hpp"

namespace ballast::cli {

/// {"released": [{"name", "devices"}], "kept": [{"name", "devices", "why"}], "results_dropped",
/// "devices": {"cuda:0": {"released", "tiers": {"resident": N}, "kept", "cache_released"}}}.
Json to_json(const residency::FreeAnswer& answer);

/// {"name", "file", "compute", "bytes", "homes", "held", "complete", "retention", "said", "uses",
/// "in_use", "plan"}.
Json to_json(const residency::ModelStatus& model);

}  // namespace ballast::cli
