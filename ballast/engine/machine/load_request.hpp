#pragma once
// What ComfyUI's loader asks of a device: how much must be free, and how many bytes of weights may
// be loaded beside what a step needs (ComfyUI 0.8.0). Reports and comparisons use it; Ballast's own
// plans rest on exact figures instead. Real numbers of bytes.

#include <optional>

#include "ballast/engine/machine/memory_class.hpp"

namespace ballast::machine {

struct LoadNeeds {
    double required = 0;              ///< memory that the caller expects to need beside weights
    std::optional<double> minimum{};  ///< the least with which it can go on
    double extra_reserve = 0;         ///< see `extra_reserve`
    double min_inference = 0;         ///< see `min_inference`
};

/// Memory that must stay free beside the weights: max(min_inference, required + reserve).
double wanted_beside(const LoadNeeds& needs);
/// The same with the minimum, where the caller gave one.
double least_beside(const LoadNeeds& needs);

/// What is to be free before `missing` bytes are loaded: 1.1 * missing + wanted_beside.
double free_target(double missing, const LoadNeeds& needs);

/// The share of free memory that weights get at least: none on NVIDIA, 0.4 elsewhere.
double minimum_weight_ratio(const DeviceProfile& device);

/// Bytes that may be loaded in addition, with `free` bytes free and `loaded` bytes of the model
/// there already: max(0, F - least, min(F * ratio, F - min_inference)) - loaded, F = free + loaded.
/// Negative: the model must shrink. Exactly nothing is 0.1, since 0 means everything.
double load_budget(double free, double loaded, double ratio, const LoadNeeds& needs);

}  // namespace ballast::machine
