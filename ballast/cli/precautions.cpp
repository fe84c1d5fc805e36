#include "ballast/cli/precautions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "ballast/engine/core/nearest_name.hpp"

namespace ballast::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "BALLAST_";

constexpr std::array<std::string_view, 9> kTypes{
    "checkpoints", "diffusion_models", "unet",       "text_encoders", "clip",
    "vae",         "vae_approx",       "embeddings", "loras"};

bool is_type(const fs::path& name) { return std::ranges::find(kTypes, name) != kTypes.end(); }

/// "/data/models/checkpoints/" and "/data/models/checkpoints" alike.
fs::path without_slash(const fs::path& folder) {
    return folder.has_filename() ? folder : folder.parent_path();
}

/// What is odd about one folder; empty if nothing is.
std::string oddity(const fs::path& root) {
    std::error_code failed;
    if (!fs::exists(root, failed)) return fmt::format("{} does not exist", root.string());
    if (!fs::is_directory(root, failed))
        return fmt::format("{} is a file; name the folder with checkpoints/, vae/ ... in it",
                           root.string());
    const auto folder = without_slash(root);
    if (!is_type(folder.filename())) return {};
    // a folder of that name may still hold the others
    for (const auto type : kTypes)
        if (fs::is_directory(root / type, failed)) return {};
    const auto above = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    return fmt::format("{} is one of the folders inside; name {}", root.string(), above.string());
}

}  // namespace

std::vector<std::string> unknown_variables() {
    std::vector<std::string> known;
    for (const auto& setting : kSettings)
        if (setting.reach == Reach::everywhere) known.push_back(environment_name(setting));
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    std::vector<std::string> warnings;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const auto name = text.substr(0, text.find('='));
        if (!name.starts_with(kPrefix) || std::ranges::count(candidates, name) != 0) continue;
        auto warning = fmt::format("environment variable {}: there is no such setting", name);
        if (const auto near = nearest_name(name, candidates))
            warning += fmt::format("; did you mean {}?", *near);
        warnings.push_back(std::move(warning));
    }
    std::ranges::sort(warnings);
    return warnings;
}

Result<std::vector<std::string>> odd_model_folders(const Settings& settings) {
    std::vector<std::string> warnings;
    if (!settings.is_given("models")) return warnings;
    const auto roots = settings.list("models");
    for (const auto& root : roots)
        if (auto odd = oddity(root); !odd.empty()) warnings.push_back("--models: " + odd);
    const auto is_usable = [](const std::string& root) {
        std::error_code failed;
        return fs::is_directory(root, failed);
    };
    if (std::ranges::any_of(roots, is_usable)) return warnings;
    return fail(Error{.code = Code::not_found,
                      .what = "cannot search for models",
                      .why = oddity(roots.front()),
                      .place = {.key = "--models"},
                      .hint = "name a folder laid out like ComfyUI's models folder"});
}

int sensible_threads(std::int64_t asked, unsigned hardware, std::vector<std::string>& warnings) {
    constexpr std::int64_t kMostPerThread = 4;
    const auto most = kMostPerThread * std::max(1U, hardware);
    if (asked <= most) return static_cast<int>(asked);
    warnings.push_back(fmt::format(
        "--threads {}: this machine has {} hardware threads; {} are used", asked, hardware, most));
    return static_cast<int>(most);
}

}  // namespace ballast::cli
