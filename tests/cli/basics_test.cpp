#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Program, ExplainsItself) {
    const auto outcome = run_program({"--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(has(outcome.out, "run"));
    EXPECT_TRUE(has(outcome.out, "inspect"));
    EXPECT_FALSE(has(outcome.out, "serve")) << "announced commands are not advertised";
    EXPECT_TRUE(outcome.err.empty());
}

TEST(Program, ExplainsEachCommand) {
    const auto outcome = run_program({"run", "--help"});
    EXPECT_EQ(outcome.status, 0);
    for (const auto* option : {"--models", "--set", "--memory-limit", "--dry-run", "--report"})
        EXPECT_TRUE(has(outcome.out, option)) << option;
    EXPECT_FALSE(has(outcome.out, "--cuda-malloc")) << "announced options are not advertised";
    EXPECT_EQ(run_program({"help", "inspect"}).status, 0);
}

TEST(Program, NamesWhatItWasBuiltWith) {
    const auto outcome = run_program({"--version"});
    EXPECT_EQ(outcome.status, 0);
    for (const auto* part : {"ballast ", "libtorch", "spdlog", "nlohmann-json"})
        EXPECT_TRUE(has(outcome.out, part)) << part;
}

TEST(Program, TellsTheNearestNameForATypo) {
    const auto command = run_program({"rnu", "x.json"});
    EXPECT_EQ(command.status, 2);
    EXPECT_TRUE(has(command.err, "run")) << command.err;
    const auto option = run_program({"run", "x.json", "--outptu", "y"});
    EXPECT_EQ(option.status, 2);
    EXPECT_TRUE(has(option.err, "--output")) << option.err;
}

TEST(Program, SaysThatAnnouncedThingsAreNotAvailableYet) {
    for (const auto& words : {std::vector<std::string>{"serve"},
                              {"run", "x.json", "--cuda-malloc"},
                              {"run", "x.json", "--deterministic"},
                              {"merge", "x.safetensors"}}) {
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.status, 2) << words.back();
        EXPECT_TRUE(has(outcome.err, "not available yet")) << outcome.err;
    }
}

TEST(Program, AnswersErrorsAsOneDocumentWhenAsked) {
    const auto outcome = run_program({"inspect", "/nowhere.safetensors", "--json"});
    EXPECT_EQ(outcome.status, 3);
    const auto document = json::parse(outcome.out);
    EXPECT_EQ(document.at("error").at("code"), "not_found");
    EXPECT_TRUE(document.at("error").contains("message"));
    EXPECT_TRUE(document.at("error").contains("where"));
}

TEST(Program, OpensNeitherRuntimeNorTorchUnlessItComputes) {
    const auto model = in_repository("data/demo/models/checkpoints/ballast-demo.safetensors");
    auto planning = demo("/nowhere", {"--dry-run"});
    ::setenv("LD_DEBUG", "files", 1);  // the loader tells on standard error what it opens
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--help"}, {"--version"}, {"inspect", model.string()}, planning}) {
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.status, 0) << words[0];
        EXPECT_TRUE(has(outcome.err, "libstdc++")) << "the loader speaks";
        for (const auto* library : {"libtorch", "libc10", "libballast_runtime"})
            EXPECT_FALSE(has(outcome.err, library)) << words[0] << " opens " << library;
    }
    ::unsetenv("LD_DEBUG");
}

TEST(Inspect, SaysWhatAFileHolds) {
    const auto file = in_repository("data/demo/models/checkpoints/ballast-demo.safetensors");
    const auto outcome = run_program({"inspect", file.string(), "--json", "--tensors", "--verify"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto document = json::parse(outcome.out);
    EXPECT_EQ(document.at("format"), "safetensors");
    EXPECT_EQ(document.at("model").at("family"), "sd15");
    EXPECT_EQ(document.at("size"), std::filesystem::file_size(file));
    EXPECT_EQ(document.at("verified_bytes"), std::filesystem::file_size(file));
    EXPECT_EQ(document.at("tensor_list").size(), document.at("tensors"));
    EXPECT_TRUE(document.at("dtypes").contains("F16"));
    for (const auto* key : {"bytes", "metadata", "blocks", "loose_bytes", "warnings"})
        EXPECT_TRUE(document.contains(key)) << key;
}

TEST(Inspect, CutsLongMetadataBetweenCharacters) {
    const TemporaryFolder folder;
    const auto file = folder / "long.safetensors";
    std::string value = "x";
    for (int i = 0; i < 100; ++i) value += "\u00e9";  // two bytes each: 120 is inside of one
    write_safetensors(file, {}, {{"note", value}});
    const auto outcome = run_program({"inspect", file.string()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(has(outcome.out, "\\x")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "\u00e9... (201 bytes)")) << outcome.out;
}

TEST(Inspect, RefusesDamagedFilesWithPlaceAndRemedy) {
    const auto outcome =
        run_program({"inspect", in_repository("tests/cases/st-07-overlap.safetensors").string()});
    EXPECT_EQ(outcome.status, 3);
    EXPECT_TRUE(has(outcome.err, "error: "));
    EXPECT_TRUE(has(outcome.err, "hint: "));
    EXPECT_TRUE(outcome.out.empty());
}

}  // namespace
}  // namespace ballast::testing
