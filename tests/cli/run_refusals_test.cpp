// What a run refuses before it begins, and what it says about odd calls.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Refusals : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path output() const { return folder_ / "out"; }

    std::string changed(const std::function<void(json&)>& change) {
        auto workflow = json::parse(content_of(in_repository("data/demo/workflow.json")));
        change(workflow);
        return folder_.write("workflow.json", workflow.dump()).string();
    }
    /// The demo with its picture previewed instead of saved.
    std::string previewing() {
        return changed([](json& w) {
            w["9"] = {{"class_type", "PreviewImage"}, {"inputs", {{"images", {"8", 0}}}}};
        });
    }
    Outcome run_file(const std::string& file, std::vector<std::string> more = {}) {
        auto words = demo(output(), std::move(more));
        words[1] = file;
        return run_program(words);
    }
    static void expect(const Outcome& outcome, int status, const std::vector<std::string>& parts) {
        EXPECT_EQ(outcome.status, status) << outcome.err;
        for (const auto& part : parts)
            EXPECT_TRUE(has(outcome.err, part)) << part << '\n' << outcome.err;
    }
    static std::vector<std::string> with(std::vector<std::string> words,
                                         std::initializer_list<std::string> more) {
        words.insert(words.end(), more);
        return words;
    }

    TemporaryFolder folder_;
};

TEST_F(Refusals, OfTheDryRunAreThoseOfTheRun) {
    const auto blocked = folder_.write("blocked", "no folder");
    folder_.write("models/vae/x.safetensors", "no weights");
    const auto wrong_vae = changed([](json& w) {
        w["20"] = {{"class_type", "VAELoader"}, {"inputs", {{"vae_name", "x.safetensors"}}}};
        w["8"]["inputs"]["vae"] = {"20", 0};
    });
    std::filesystem::create_symlink("gone", folder_ / "astray");
    const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
        {demo(blocked / "inside"), "--output"},
        {demo(folder_ / "astray"), "link to gone"},
        {demo(output(), {"--report", "/nowhere/r.json"}), "--report"},
        {demo(output(), {"--runtime-library", "/nowhere.so"}), "--runtime-library"},
    };
    for (const auto& [words, part] : calls) {
        const auto run = run_program(words);
        const auto dry = run_program(with(words, {"--dry-run"}));
        expect(run, 3, {"hint: ", part});
        EXPECT_EQ(run.status, dry.status);
        EXPECT_EQ(run.err, dry.err);
    }
    // found by the header, before the checkpoint of another loader is read
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--dry-run"}, {"--runtime-library", "/nowhere"}})
        expect(run_file(wrong_vae, with(more, {"--models", (folder_ / "models").string()})), 3,
               {"x.safetensors", "begins with 'no weights'"});
    EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(Refusals, OfAFolderForPreviewsNameItsOption) {
    const auto blocked = folder_.write("blocked", "no folder").string();
    const auto file = previewing();
    for (const auto* more : {"--dry-run", "--json"})
        EXPECT_EQ(run_file(file, {"--temp-directory", blocked, more}).status, 3) << more;
    expect(run_file(file, {"--temp-directory", blocked, "--runtime-library", "/nowhere"}), 3,
           {"--temp-directory", "blocked"});
    // who previews nothing needs no such folder, and who saves nothing no output folder
    EXPECT_EQ(run_program(demo(output(), {"--temp-directory", blocked, "--dry-run"})).status, 0);
    auto words =
        demo(folder_ / "blocked", {"--temp-directory", (folder_ / "t").string(), "--dry-run"});
    words[1] = file;
    EXPECT_EQ(run_program(words).status, 0);
}

TEST_F(Refusals, OfSizeAreAnErrorInTheDocumentOfADryRun) {
    const auto report = folder_ / "report.json";
    const auto outcome = run_program(demo(output(), {"--dry-run", "--json", "--memory-limit",
                                                     "cpu=1mb", "--report", report.string()}));
    ASSERT_EQ(outcome.status, 4) << outcome.err;
    const auto document = json::parse(outcome.out);
    EXPECT_EQ(document.at("error").at("code"), "does_not_fit");
    EXPECT_GT(document.at("error").at("shortfall").at("cpu").at("missing"), 0);
    EXPECT_TRUE(has(document.at("error").at("hint"), "--explain"));
    EXPECT_FALSE(document.at("fits"));
    EXPECT_EQ(json::parse(content_of(report)), document);
    EXPECT_FALSE(has(outcome.err, "error: "));
}

TEST_F(Refusals, AreAllThatAQuietDryRunSays) {
    const auto quiet = run_program(demo(output(), {"--dry-run", "--quiet"}));
    EXPECT_EQ(quiet.status, 0);
    EXPECT_TRUE(quiet.out.empty()) << quiet.out;
    EXPECT_TRUE(quiet.err.empty()) << quiet.err;
}

TEST_F(Refusals, ProtectTheWorkflowFromTheReport) {
    const auto file = changed([](json&) {});
    const auto before = content_of(file);
    std::filesystem::create_hard_link(file, folder_ / "same.json");
    for (const auto& report : {file, (folder_ / "same.json").string()})
        expect(run_file(file, {"--report", report}), 2, {"--report", "would replace"});
    EXPECT_EQ(content_of(file), before);
    EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(Refusals, NameTheWayToLookAtAWeightFile) {
    const auto file =
        in_repository("data/demo/models/checkpoints/ballast-demo.safetensors").string();
    expect(run_file(file), 3, {"it is a weight file", "ballast inspect " + file});
}

TEST_F(Refusals, TellOfPathsWithAZeroCharacterInTheSettingsFile) {
    const auto settings = folder_.write("s.json", "{\"output\": \"a\\u0000b\"}").string();
    expect(run_program({"run", in_repository("data/demo/workflow.json").string(), "--models",
                        in_repository("data/demo/models").string(), "--settings", settings}),
           2, {"s.json", "output", "zero character"});
}

TEST_F(Refusals, SayThatANumberIsNeeded) {
    const auto workflow = in_repository("data/demo/workflow.json").string();
    expect(run_program({"run", "--repeat", workflow}), 2, {"--repeat", "number", workflow});
}

TEST_F(Refusals, SayThatStandardInputCanBeReadOnce) {
    const auto outcome = run_program({"run", "-", "--settings", "-"},
                                     {.standard_input = in_repository("data/demo/workflow.json")});
    expect(outcome, 2, {"--settings", "once"});
}

TEST_F(Refusals, SayWhatIsOddAboutTheFoldersOfModels) {
    const auto workflow = in_repository("data/demo/workflow.json").string();
    const auto call = [&](const std::filesystem::path& models) {
        return run_program({"run", workflow, "--dry-run", "--models", models.string(), "--output",
                            output().string()});
    };
    expect(call(folder_ / "none"), 3, {"--models", "none does not exist"});
    expect(call(folder_.write("file", "")), 3, {"--models", "is a file"});
    const auto models = in_repository("data/demo/models");
    expect(call(models / "checkpoints"), 3, {"one of the folders inside; name " + models.string()});
    expect(run_program(demo(output(), {"--dry-run", "--models", (folder_ / "none").string()})), 0,
           {"warning: ", "none does not exist"});
}

TEST_F(Refusals, WarnOfVariablesThatAreNoSettings) {
    const auto outcome = run_program(demo(output(), {"--dry-run", "--json"}),
                                     {.environment = {{"BALLAST_THRAEDS", "2"}}});
    expect(outcome, 0, {"warning: ", "BALLAST_THRAEDS", "BALLAST_THREADS"});
    EXPECT_TRUE(has(json::parse(outcome.out).at("warnings").dump(), "BALLAST_THRAEDS"));
    EXPECT_TRUE(run_program(demo(output(), {"--dry-run", "--quiet"}),
                            {.environment = {{"BALLAST_THRAEDS", "2"}}})
                    .err.empty());
}

}  // namespace
}  // namespace ballast::testing
