#pragma once
// What a workflow may say about where its pictures go: folders below the output folder, and the
// beginning of the files' names.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast {

/// Replaced in a prefix when pictures are saved.
inline constexpr std::array<std::string_view, 9> kOutputTokens{
    "%width%", "%height%", "%year%",   "%month%",    "%day%",
    "%hour%",  "%minute%", "%second%", "%batch_num%"};

/// A prefix taken apart.
struct OutputName {
    std::filesystem::path folder;  ///< below the output folder; empty: that itself
    std::string name;              ///< number and ending follow
};

/// "shapes/red" -> {"shapes", "red"}. Fails with `bad_value` when the prefix leads out of the
/// output folder, holds a zero character, or has a part that is longer than file systems take.
Result<OutputName> parse_output_name(std::string_view prefix);

/// The same for a prefix whose tokens are not replaced yet: what it makes of them is not known, so
/// it is checked as if each became one character.
Result<OutputName> parse_output_pattern(std::string_view prefix);

}  // namespace ballast
