#pragma once
// What is odd about the way a run was called: things that are most likely not what was meant.

#include <string>
#include <vector>

#include "ballast/engine/core/settings.hpp"

namespace ballast::cli {

/// Environment variables that look like settings but are none, each with the nearest name.
std::vector<std::string> unknown_variables();

/// Folders of models that do not exist, are files, or lie one level too deep. Fails with
/// `not_found` when that leaves no folder although some were named.
Result<std::vector<std::string>> odd_model_folders(const Settings& settings);

/// How many threads shall compute: what --threads says, but never more than is sensible on this
/// machine; then `warnings` gains a sentence.
int sensible_threads(std::int64_t asked, unsigned hardware, std::vector<std::string>& warnings);

}  // namespace ballast::cli
