// What no text of the repository may say: where it was written, and which mirror served a package.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> texts() {
    static const std::set<std::string> extensions{".hpp", ".cpp", ".py",   ".sh", ".cmake",
                                                  ".md",  ".txt", ".json", ".in"};
    static const std::set<std::string> folders{".ci",  "ballast", "benchmarks", "cmake",
                                               "docs", "scripts", "tests",      "tools"};
    std::vector<fs::path> found;
    const fs::path root = BALLAST_SOURCE_DIR;
    for (const auto& entry : fs::directory_iterator(root))
        if (entry.is_regular_file() && extensions.contains(entry.path().extension().string()))
            found.push_back(entry.path());
    for (const auto& folder : folders)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const auto relative = fs::relative(entry.path(), root).generic_string();
            // recorded data of others, megabytes of numbers
            if (relative.starts_with("tests/golden/") || relative.starts_with("tests/cases/"))
                continue;
            if (entry.is_regular_file() &&
                (extensions.contains(entry.path().extension().string()) || folder == ".ci"))
                found.push_back(entry.path());
        }
    return found;
}

std::string content(const fs::path& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
}

// The patterns are written so that they do not find themselves.

TEST(TrackedTexts, NameNoFolderOfTheMachineTheyWereWrittenOn) {
    const std::regex machine(R"([^A-Za-z0-9_.\-](/wor[k]/|/roo[t]/|/home/[a-z]+/[a-z]))");
    ASSERT_GT(texts().size(), 200U);
    for (const auto& path : texts()) {
        const std::string text = content(path);
        std::smatch found;
        EXPECT_FALSE(std::regex_search(text, found, machine)) << path << ": " << found.str();
    }
}

TEST(TrackedTexts, NameNoHostOfAPackageRegistry) {
    const std::regex host(R"((pypi|pythonhosted|npmjs|crates|conda)\.(or[g]|i[o]|co[m]))");
    for (const auto& path : texts()) {
        const std::string text = content(path);
        std::smatch found;
        EXPECT_FALSE(std::regex_search(text, found, host)) << path << ": " << found.str();
    }
}

}  // namespace
