#include "ballast/cli/version.hpp"

#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <array>
#include <utility>

#include "ballast/cli/console.hpp"

namespace ballast::cli {
namespace {

// The BALLAST_BUILT_... texts come from the build system, which knows what it found.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kParts{{
    {"compiler", BALLAST_BUILT_COMPILER},
    {"build", BALLAST_BUILT_TYPE},
    {"libtorch", BALLAST_BUILT_TORCH},
    {"fmt", BALLAST_BUILT_FMT},
    {"spdlog", BALLAST_BUILT_SPDLOG},
    {"nlohmann-json", BALLAST_BUILT_JSON},
    {"CLI11", CLI11_VERSION},
}};

}  // namespace

int version(const Invocation& /*invocation*/, Console& console) {
    Json document{{"version", BALLAST_BUILT_VERSION}};
    auto text = fmt::format("ballast {}\n", BALLAST_BUILT_VERSION);
    for (const auto& [part, built_with] : kParts) {
        text += fmt::format("{:<14} {}\n", part, built_with);
        document[std::string(part)] = built_with;
    }
    console.say(text);
    console.print(document);
    return 0;
}

}  // namespace ballast::cli
