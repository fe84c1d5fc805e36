#pragma once
// The settings table in words, for help texts and documentation.

#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/settings_table.hpp"

namespace ballast {

/// docs/settings.md: every setting that exists now, by group, and the names that are announced.
std::string settings_page();

/// "--memory-limit DEVICE=SIZE"
std::string option_text(const Setting& setting);

/// The choices that can be used now.
std::vector<std::string_view> choices_now(const Setting& setting);

/// "Number formats"
std::string group_title(SettingGroup group);

}  // namespace ballast
