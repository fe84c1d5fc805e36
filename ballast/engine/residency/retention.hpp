#pragma once
// Whether a model stays when memory is freed, and who said so.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/residency/phase.hpp"

namespace ballast::residency {

enum class Retention { release, keep };

/// "release", "keep".
std::string_view to_string(Retention retention);
std::optional<Retention> parse_retention(std::string_view text);

/// Always explicit for the free flow: a model is flagged for release or kept, nothing else.
struct RetentionFlag {
    Retention value = Retention::release;
    /// Said for this very model (by its loader's input in the workflow, or by name), not the
    /// default of its kind of loader.
    bool is_said = false;

    bool operator==(const RetentionFlag&) const = default;
};

/// What a user wants of all models together.
struct RetentionWishes {
    Retention by_default = Retention::release;  ///< of models whose loader says nothing
    bool is_strict = false;                     ///< what is kept never makes room
    std::vector<std::string> kept{};            ///< names of models that are kept in any case
};

/// Whether `wanted` names a model: by its own name, or all parts of a file by the file's name or
/// path.
bool is_named(std::string_view wanted, std::string_view model, const std::filesystem::path& file);

/// Whether a loader that ejects all others may let such a model go: nobody said that it stays.
bool can_be_ejected(RetentionFlag flag);

/// What the flag means when room is needed: what is kept is retained, whoever said so; what may go
/// is flagged if the user said so, and ordinary by default.
Standing standing_of(RetentionFlag flag);

}  // namespace ballast::residency
