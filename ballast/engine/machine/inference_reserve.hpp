#pragma once
// Memory of a device that weights never take: the reserve for other programs and the least that
// inference needs beside the weights.
//
// Budgets are real numbers of bytes, as in ComfyUI 0.8.0, whose figures these are: the least for
// inference is no whole number.

#include <optional>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// Bytes left to other programs on a device of `total` bytes: 400 MiB; on Windows, whose desktop
/// takes more, 600 MiB, or 700 MiB where `total` is above 15 360 MiB. WSL2 counts as Linux.
/// What the user `said` replaces the figure; a percentage of an unknown total does not.
double extra_reserve(System system, std::optional<Bytes> total, const std::optional<Reserve>& said);

/// Least bytes to keep free of weights while a model runs: 0.8 GiB and the extra reserve.
double min_inference(System system, std::optional<Bytes> total, const std::optional<Reserve>& said);

}  // namespace ballast::machine
