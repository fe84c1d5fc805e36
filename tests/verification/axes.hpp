#pragma once
// The axes of the matrix of freeing memory. Each is a table: a row more is a machine, a placement,
// a choice of flags or a way of freeing more, in the checks and in the document.

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/machine/cache_policy.hpp"
#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/residency/free_flow.hpp"

namespace ballast::verification {

inline constexpr std::size_t kModels = 3;
/// For people, and for ejecting by name; in the order of loading.
inline constexpr std::array<std::string_view, kModels> kModelNames{"unet", "text encoder", "vae"};

/// A described machine, and what it must be classed as.
struct MachineRow {
    std::string_view title{};    ///< "DISCRETE, two cards"
    std::string_view profile{};  ///< file in the folder of profiles
    machine::MemoryClass memory_class = machine::MemoryClass::none;
    DeviceId compute{};
    std::vector<DeviceId> others{};  ///< accelerators beside it that store
    machine::VramFlag vram = machine::VramFlag::normal;
};
const std::vector<MachineRow>& machines();

/// Where models live, as an allocation text in which COMPUTE and OTHER stand for devices.
struct PlacementRow {
    std::string_view name{};
    std::string_view text{};
    bool needs_accelerator = false;
    bool needs_other = false;
};
const std::vector<PlacementRow>& placements();
bool exists_on(const PlacementRow& placement, const MachineRow& machine);
/// The text for that machine.
std::string allocation_text(const PlacementRow& placement, const MachineRow& machine);

/// Which models are flagged to go when memory is freed; the others are kept.
struct FlagsRow {
    std::string_view name{};
    std::array<bool, kModels> is_flagged{};
};
const std::vector<FlagsRow>& flags();

enum class Goes { nothing, flagged, unet, all };
enum class Moment { idle, in_prompt };

/// A way of freeing memory, and what it must do.
struct FreeRow {
    std::string_view name{};
    std::function<void(residency::FreeFlow&)> ask{};
    Goes goes = Goes::nothing;
    bool drops_results = false;
    Moment moment = Moment::idle;  ///< when it is asked; it is always done when no prompt runs
    machine::EmptyingCall call = machine::EmptyingCall::forced;
    bool is_answered = true;
};
const std::vector<FreeRow>& free_kinds();

}  // namespace ballast::verification
