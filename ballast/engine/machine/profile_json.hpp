#pragma once
// Machine profiles as JSON texts and files.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/result.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// A profile and what was odd about its text: unknown keys, figures that contradict one another.
struct LoadedProfile {
    MachineProfile profile;
    std::vector<std::string> warnings;
};

/// Reads a profile. `name` stands for the text in errors. Absent and null members are unknown;
/// unknown keys, free above total and the like are warnings. Fails with `corrupt_file` (no JSON:
/// line and column), `bad_value` (a member of the wrong type or out of its range: its path) or
/// `bad_workflow` (a device listed twice, a link to a device that is not there).
Result<LoadedProfile> parse_profile(std::string_view text, const std::filesystem::path& name);

/// The same of a file of at most 4 MiB; fails also with `not_found`, `io`, `foreign_file`.
Result<LoadedProfile> load_profile(const std::filesystem::path& path);

/// The profile's JSON text; parsing it gives an equal profile. Unknown figures are left out.
std::string to_json_text(const MachineProfile& profile);

}  // namespace ballast::machine
