#include "ballast/cli/command_settings.hpp"

#include "ballast/engine/core/settings_file.hpp"

namespace ballast::cli {

std::filesystem::path settings_file_of(const std::vector<GivenSetting>& command_line) {
    for (const auto& given : command_line)
        if (given.name.row().name == "settings") return given.texts.back();
    return {};
}

Result<Settings> command_settings(CommandMask command,
                                  const std::vector<GivenSetting>& command_line) {
    SettingSources sources{.command = command,
                           .command_line = command_line,
                           .environment = process_environment(),
                           .file_path = settings_file_of(command_line)};
    if (!sources.file_path.empty()) {
        auto file = read_settings_file(sources.file_path);
        if (!file) return fail(file.error());
        sources.file = *std::move(file);
    }
    return resolve_settings(sources);
}

}  // namespace ballast::cli
