#pragma once
// What freeing memory gave back, and what is loaded, for scripts.

#include "ballast/cli/console.hpp"
#include "ballast/engine/residency/free_flow.hpp"

namespace ballast::cli {

/// {"released": [{"name", "devices"}], "kept": [{"name", "devices", "why"}], "results_dropped",
/// "devices": {"cuda:0": {"released", "tiers": {"resident": N}, "kept", "cache_released"}},
/// "errors", "resident_before", "resident_after"}, the latter of this process as the system counts.
Json to_json(const residency::FreeAnswer& answer);

/// {"models": [{"name", "file", "compute", "bytes", "homes", "held", "complete", "retention",
/// "said", "uses", "in_use", "plan"}], "devices": [{"id", "awake", "total", "free", "cached",
/// "now", "peak", "limit", "by_tag", "note"}], "running", "requests_pending"}. What a device that
/// sleeps has free is null, since asking would wake it.
Json to_json(const residency::MemoryStatus& status);

}  // namespace ballast::cli
