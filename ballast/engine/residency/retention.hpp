#pragma once
// Whether a model stays when memory is freed, and who said so.

#include <optional>
#include <string_view>

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

/// What the flag means when room is needed: what is kept is retained, whoever said so; what may go
/// is flagged if the user said so, and ordinary by default.
Standing standing_of(RetentionFlag flag);

}  // namespace ballast::residency
