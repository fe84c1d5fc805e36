#pragma once
// Memory of a device that is kept free beside the weights (ComfyUI 0.8.0's constants).

#include <optional>

#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// Bytes left to the system and other programs: what the user said (a percentage is one of
/// `total`), else 400 MiB, on Windows 600 MiB or, for devices above 15360 MiB, 700 MiB. WSL2 counts
/// as Linux.
double extra_reserve(System system, std::optional<Bytes> total,
                     const std::optional<Reserve>& said);

/// 0.8 GiB for activations and `extra_reserve`, in bytes.
double min_inference(System system, std::optional<Bytes> total,
                     const std::optional<Reserve>& said);

}  // namespace ballast::machine
