// Who may include whom. The table is the architecture; the test reads every include line.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Source {
    fs::path path;       ///< from the root
    std::string folder;  ///< "engine/core", "graph", "runtime/nn"
    std::vector<std::string> lines;
};

/// "ballast/engine/core/error.hpp" -> "engine/core"; engine and runtime are divided, the rest not.
std::string folder_of(const std::string& path) {
    std::vector<std::string> parts;
    for (const auto& part : fs::path(path)) parts.push_back(part.string());
    if (parts.size() < 3 || parts[0] != "ballast") return "";
    const bool is_divided = parts[1] == "engine" || parts[1] == "runtime";
    return is_divided && parts.size() > 3 ? parts[1] + "/" + parts[2] : parts[1];
}

const std::vector<Source>& sources() {
    static const auto all = [] {
        std::vector<Source> found;
        const fs::path root = BALLAST_SOURCE_DIR;
        for (const auto& entry : fs::recursive_directory_iterator(root / "ballast")) {
            const auto extension = entry.path().extension();
            if (extension != ".hpp" && extension != ".cpp") continue;
            Source source{.path = fs::relative(entry.path(), root), .folder = {}, .lines = {}};
            source.folder = folder_of(source.path.generic_string());
            std::ifstream stream(entry.path());
            for (std::string line; std::getline(stream, line);) source.lines.push_back(line);
            found.push_back(std::move(source));
        }
        return found;
    }();
    return all;
}

/// What stands in quotes or angle brackets of each include line.
std::vector<std::string> includes(const Source& source) {
    static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<std::string> found;
    for (const auto& line : source.lines)
        if (std::smatch match; std::regex_search(line, match, pattern)) found.push_back(match[1]);
    return found;
}

using Rules = std::map<std::string, std::set<std::string>>;

const Rules& rules() {
    static const Rules table = [] {
        const std::set<std::string> engine{"engine/core",     "engine/machine", "engine/formats",
                                           "engine/device",   "engine/plan",    "engine/weights",
                                           "engine/residency"};
        const auto with = [](std::set<std::string> base, std::set<std::string> more) {
            base.merge(more);
            return base;
        };
        return Rules{
            {"engine/core", {}},
            {"engine/machine", {"engine/core"}},
            {"engine/formats", {"engine/core"}},
            {"engine/device", {"engine/core", "engine/machine"}},
            {"engine/plan", {"engine/core", "engine/machine"}},
            {"engine/weights", {"engine/core", "engine/device", "engine/formats", "engine/plan"}},
            {"engine/residency",
             {"engine/core", "engine/machine", "engine/device", "engine/plan", "engine/weights"}},
            {"models", {"engine/core", "engine/formats", "engine/plan"}},
            {"graph",
             {"engine/core", "engine/machine", "engine/formats", "engine/device", "engine/plan",
              "engine/residency", "models"}},
            {"runtime/tensor", engine},
            {"runtime/nn", with(engine, {"runtime/tensor"})},
            {"runtime/networks", with(engine, {"runtime/tensor", "runtime/nn", "models"})},
            {"runtime/vae", with(engine, {"runtime/tensor", "runtime/nn", "models"})},
            {"runtime/text", with(engine, {"runtime/tensor", "runtime/nn", "models"})},
            {"runtime/sampling",
             with(engine, {"runtime/tensor", "runtime/nn", "runtime/networks"})},
            {"runtime/image", {"engine/core", "engine/formats", "runtime/tensor"}},
            {"runtime/nodes",
             with(engine, {"models", "graph", "runtime/tensor", "runtime/nn", "runtime/networks",
                           "runtime/vae", "runtime/text", "runtime/sampling", "runtime/image"})},
            {"runtime", {"engine/core", "graph", "runtime/nodes"}},
            {"cli", with(engine, {"models", "graph"})},
        };
    }();
    return table;
}

TEST(IncludeRules, EveryFolderHasARule) {
    ASSERT_GT(sources().size(), 100U);
    for (const auto& source : sources())
        EXPECT_TRUE(rules().contains(source.folder)) << source.path << " in " << source.folder;
}

TEST(IncludeRules, AreKept) {
    for (const auto& source : sources()) {
        const auto rule = rules().find(source.folder);
        if (rule == rules().end()) continue;
        for (const auto& include : includes(source)) {
            const auto target = folder_of(include);
            if (target.empty() || target == source.folder) continue;
            EXPECT_TRUE(rule->second.contains(target)) << source.path << " includes " << include;
        }
    }
}

TEST(IncludeRules, AllowNoCircles) {
    // a folder's level is one above the highest that it may include; a circle has none
    std::map<std::string, int> level;
    for (std::size_t round = 0; round <= rules().size(); ++round)
        for (const auto& [folder, allowed] : rules()) {
            int highest = 0;
            for (const auto& target : allowed) highest = std::max(highest, level[target] + 1);
            level[folder] = highest;
        }
    for (const auto& [folder, height] : level)
        EXPECT_LE(height, static_cast<int>(rules().size())) << folder;
}

TEST(IncludeRules, OnlyTheRuntimeSeesTorch) {
    for (const auto& source : sources())
        for (const auto& include : includes(source)) {
            const bool is_torch = include.starts_with("ATen/") || include.starts_with("c10/") ||
                                  include.starts_with("torch/");
            if (!is_torch) continue;
            EXPECT_TRUE(source.folder.starts_with("runtime")) << source.path << ": " << include;
            EXPECT_NE(include, "torch/torch.h") << source.path;
            EXPECT_NE(include, "ATen/ATen.h") << source.path;
        }
}

/// ATen/ops/add.h, ATen/ops/add_ops.h, ATen/Functions.h: hundreds of kilobytes each.
bool is_operator_header(const std::string& include) {
    return include.starts_with("ATen/ops/") || include == "ATen/Functions.h" ||
           include == "ATen/NativeFunctions.h" || include == "ATen/Operators.h" ||
           include == "ATen/TensorOperators.h";
}

TEST(IncludeRules, OnlyTheTensorFoldersSourcesSeeTorchsOperators) {
    EXPECT_TRUE(is_operator_header("ATen/ops/conv2d_ops.h"));
    std::size_t users = 0;
    for (const auto& source : sources())
        for (const auto& include : includes(source)) {
            if (!is_operator_header(include)) continue;
            ++users;
            EXPECT_EQ(source.folder, "runtime/tensor") << source.path << ": " << include;
            EXPECT_EQ(source.path.extension(), ".cpp") << source.path << ": " << include;
        }
    EXPECT_GT(users, 10U) << "the rule looks at include lines that nobody writes any more";
}

TEST(IncludeRules, JoinComesWithItsOwnHeader) {
    // some versions of fmt declare it elsewhere, too; others do not
    for (const auto& source : sources()) {
        const auto uses = std::any_of(
            source.lines.begin(), source.lines.end(),
            [](const auto& line) { return line.find("fmt::join") != std::string::npos; });
        if (!uses) continue;
        const auto found = includes(source);
        EXPECT_TRUE(std::count(found.begin(), found.end(), "fmt/ranges.h") == 1) << source.path;
    }
}

TEST(IncludeRules, InstalledHeadersNeedNoLibraryButExpected) {
    const std::set<std::string> foreign{"fmt", "spdlog", "nlohmann", "boost", "ATen", "c10"};
    for (const auto& source : sources()) {
        if (!source.folder.starts_with("engine") || source.path.extension() != ".hpp") continue;
        for (const auto& include : includes(source))
            EXPECT_FALSE(foreign.contains(include.substr(0, include.find('/'))))
                << source.path << " includes " << include;
    }
}

TEST(Headers, OpenWithTheirGuardAndWhatTheyAreFor) {
    for (const auto& source : sources()) {
        if (source.path.extension() != ".hpp") continue;
        ASSERT_GE(source.lines.size(), 2U) << source.path;
        EXPECT_EQ(source.lines[0], "#pragma once") << source.path;
        EXPECT_TRUE(source.lines[1].starts_with("// ")) << source.path;
    }
}

TEST(Headers, DoNotOpenNamespacesForOthers) {
    for (const auto& source : sources()) {
        if (source.path.extension() != ".hpp") continue;
        for (const auto& line : source.lines)
            EXPECT_FALSE(line.starts_with("using namespace")) << source.path << ": " << line;
    }
}

}  // namespace
