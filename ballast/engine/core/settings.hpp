#pragma once
// The values that a run works with: every setting from the strongest source that gives it.
//
// Command line wins over environment, environment over settings file, file over default. A list is
// taken whole from one source. Of settings that exclude one another, the strongest source that
// turns one on decides, and the others are off.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/settings_table.hpp"

namespace ballast {

/// A row of the table by its name; a name that does not exist does not compile.
class SettingName {
public:
    // implicit, so that callers write settings.flag("json")
    consteval SettingName(const char* name) : index_(index_of(name)) {}
    constexpr explicit SettingName(std::size_t index) : index_(index) {}

    [[nodiscard]] constexpr std::size_t index() const { return index_; }
    [[nodiscard]] constexpr const Setting& row() const { return kSettings[index_]; }

private:
    static consteval std::size_t index_of(std::string_view name) {
        for (std::size_t i = 0; i < kSettings.size(); ++i)
            if (kSettings[i].name == name) return i;
        throw "no such setting";  // not a constant expression: the compiler stops here
    }

    std::size_t index_;
};

/// The setting of that name or alias (without dashes), if there is one.
std::optional<SettingName> find_setting(std::string_view name);

/// BALLAST_RESERVE_VRAM for reserve-vram; empty when the setting is for the command line only.
std::string environment_name(const Setting& setting);

/// One setting as a source gave it, not yet checked. Flags have the text "true" or "false".
struct GivenSetting {
    SettingName name;
    std::vector<std::string> texts;
};

/// From the weakest to the strongest.
enum class SettingSource { fallback, file, environment, command_line };

/// Looks up one environment variable; empty function: none is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The variables of this process.
Environment process_environment();

struct SettingSources {
    CommandMask command = kRunCommand;  ///< settings of other commands are ignored
    std::vector<GivenSetting> command_line = {};
    Environment environment = {};
    std::vector<GivenSetting> file = {};
    std::filesystem::path file_path = {};  ///< for error texts
};

class Settings;

/// Checks all sources and merges them. Fails with `usage` (the place names the option, the
/// variable, or file and key) or `not_available` for what is announced only.
Result<Settings> resolve_settings(const SettingSources& sources);

/// The resolved values. Getters are for settings of the fitting type; another one throws
/// `std::logic_error`.
class Settings {
public:
    [[nodiscard]] bool flag(SettingName name) const;
    [[nodiscard]] std::int64_t integer(SettingName name) const;
    /// Text, path or choice; empty when it has neither value nor default.
    [[nodiscard]] std::string text(SettingName name) const;
    [[nodiscard]] std::vector<std::string> list(SettingName name) const;
    [[nodiscard]] std::map<DeviceId, Bytes> device_sizes(SettingName name) const;
    [[nodiscard]] std::map<DeviceId, std::string> device_choices(SettingName name) const;

    [[nodiscard]] SettingSource source(SettingName name) const { return entry(name).source; }
    [[nodiscard]] bool is_given(SettingName name) const {
        return source(name) != SettingSource::fallback;
    }

private:
    friend Result<Settings> resolve_settings(const SettingSources& sources);
    struct Entry {
        std::vector<std::string> texts;
        SettingSource source = SettingSource::fallback;
    };

    Settings();
    [[nodiscard]] const Entry& entry(SettingName name) const { return entries_[name.index()]; }
    [[nodiscard]] const Entry& entry(SettingName name, SettingType type) const;

    std::vector<Entry> entries_;  // one per row of the table
};

}  // namespace ballast
