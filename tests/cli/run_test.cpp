#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::size_t files_in(const std::filesystem::path& folder) {
    if (!std::filesystem::exists(folder)) return 0;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

class Run : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path output() const { return folder_.path() / "out"; }

    /// The demo workflow with one change, as a file.
    std::string changed(const std::function<void(json&)>& change) {
        auto workflow = json::parse(bytes_of(in_repository("data/demo/workflow.json")));
        change(workflow);
        return written(workflow.dump());
    }
    std::string written(const std::string& text) {
        const auto path = folder_.path() / "workflow.json";
        std::ofstream(path, std::ios::binary) << text;
        return path.string();
    }
    Outcome run_file(const std::string& file, std::vector<std::string> more = {}) {
        auto words = demo(output(), std::move(more));
        words[1] = file;
        return run_program(words);
    }
    /// Refused with this status before anything is written, with a hint where there is one.
    void expect_refused(const Outcome& outcome, int status, const std::string& part) {
        EXPECT_EQ(outcome.status, status) << outcome.err;
        EXPECT_TRUE(has(outcome.err, "error: ")) << outcome.err;
        EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
        EXPECT_EQ(files_in(output()), 0U);
    }

    TemporaryFolder folder_;
};

TEST_F(Run, DrawsThePictureAndReportsRealFigures) {
    const auto report = folder_.path() / "report.json";
    const auto outcome =
        run_program(demo(output(), {"--json", "--report", report.string(), "--quiet"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto document = json::parse(outcome.out);
    EXPECT_EQ(json::parse(bytes_of(report)), document);
    EXPECT_EQ(document.at("status"), "success");
    ASSERT_EQ(document.at("outputs").size(), 1U);
    const std::string picture = document.at("outputs")[0].at("path");
    EXPECT_EQ(bytes_of(picture).substr(1, 3), "PNG");
    const auto& cpu = document.at("devices").at("cpu");
    EXPECT_EQ(cpu.at("planned"), cpu.at("realised"));
    EXPECT_GT(cpu.at("peak"), cpu.at("realised"));
    EXPECT_TRUE(cpu.at("limit").is_null());
    EXPECT_GT(cpu.at("by_tag").at("activations"), 0);
    EXPECT_EQ(document.at("models").size(), 3U);
    EXPECT_GT(document.at("seconds").at("sample"), 0.0);
    for (const auto* key : {"streaming", "cache", "warnings", "simulated"})
        EXPECT_TRUE(document.contains(key)) << key;
}

TEST_F(Run, RepeatsOnlyWhatChanged) {
    const auto outcome = run_program(demo(output(), {"--repeat", "2", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto cache = json::parse(outcome.out).at("cache");
    EXPECT_TRUE(cache.at("executed").empty()) << cache;
    EXPECT_EQ(files_in(output()), 1U);
}

TEST_F(Run, RunsTheWorkflowInsideItsOwnPictureToTheSameBits) {
    ASSERT_EQ(run_program(demo(output())).status, 0);
    const auto first = std::filesystem::directory_iterator(output())->path();
    const auto again = folder_.path() / "again";
    auto words = demo(again);
    words[1] = first.string();
    const auto outcome = run_program(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(bytes_of(first), bytes_of(std::filesystem::directory_iterator(again)->path()));
}

TEST_F(Run, FollowsChangedInputs) {
    const auto outcome = run_program(demo(
        output(), {"--set", "6.text=a green square on white", "--set", "3.steps=2", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::string picture = json::parse(outcome.out).at("outputs")[0].at("path");
    EXPECT_TRUE(has(bytes_of(picture), "a green square on white"));
    const auto typo = run_program(demo(output(), {"--set", "6.txet=x"}));
    EXPECT_EQ(typo.status, 2);
    EXPECT_TRUE(has(typo.err, "text")) << typo.err;
}

TEST_F(Run, PlansWithoutComputing) {
    const auto outcome = run_program(demo(output(), {"--dry-run", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto document = json::parse(outcome.out);
    EXPECT_TRUE(document.at("fits"));
    ASSERT_EQ(document.at("models").size(), 3U);
    for (const auto* key : {"compute", "mode", "blocks", "homes", "fits", "shortfall"})
        EXPECT_TRUE(document.at("models")[0].contains(key)) << key;
    const auto small =
        run_program(demo(output(), {"--dry-run", "--json", "--memory-limit", "cpu=1mb"}));
    EXPECT_EQ(small.status, 4);
    EXPECT_GT(json::parse(small.out).at("shortfall").at("cpu").at("missing"), 0);
}

TEST_F(Run, PrintsWhatTheReadmeQuotes) {
    const auto outcome = run_program(demo(output(), {"--memory-limit", "cpu=2mb", "--quiet"}));
    std::istringstream readme(bytes_of(in_repository("README.md")));
    std::size_t quoted = 0;
    for (std::string line; std::getline(readme, line);) {
        if (!line.starts_with("error: ") && !line.starts_with("hint: ")) continue;
        ++quoted;
        // what the README leaves out it marks by three dots
        for (std::size_t begin = 0; begin < line.size();) {
            const auto end = std::min(line.find("...", begin), line.size());
            const auto part = line.substr(begin, end - begin);
            EXPECT_TRUE(has(outcome.err, part)) << part << '\n' << outcome.err;
            begin = end + 3;
        }
    }
    EXPECT_EQ(quoted, 2U);
}

TEST_F(Run, EndsCleanlyWhenActivationsDoNotFit) {
    const auto outcome = run_program(demo(output(), {"--memory-limit", "cpu=8mb", "--set",
                                                     "5.width=2048", "--set", "5.height=2048"}));
    EXPECT_TRUE(outcome.status == 5 || outcome.status == 4) << outcome.status << outcome.err;
    EXPECT_TRUE(has(outcome.err, "error: "));
    EXPECT_EQ(files_in(output()), 0U);
}

TEST_F(Run, NamesNearModelsAndTheFoldersSearched) {
    const auto outcome = run_program(demo(output(), {"--set", "4.ckpt_name=balast-demo"}));
    expect_refused(outcome, 3, "ballast-demo.safetensors");
    EXPECT_TRUE(has(outcome.err, "checkpoints")) << outcome.err;
}

TEST_F(Run, RefusesWorkflowsThatDoNotHoldTogether) {
    expect_refused(run_file(written("{broken")), 3, "line 1");
    expect_refused(run_file(written("")), 3, "");
    expect_refused(run_file(folder_.path().string()), 3, "folder");
    expect_refused(run_file((folder_.path() / "none.json").string()), 3, "no such file");
    expect_refused(run_file(written(R"({"nodes": [], "links": [], "version": 0.4})")), 3, "API");
    expect_refused(run_file(changed([](json& w) { w["3"]["class_type"] = "KSamplr"; })), 3,
                   "KSampl");
    expect_refused(run_file(changed([](json& w) { w["3"]["inputs"]["model"] = {"44", 0}; })), 3,
                   "44");
    expect_refused(run_file(changed([](json& w) { w["3"]["inputs"]["latent_image"] = {"3", 0}; })),
                   3, "own result");
    expect_refused(run_file(changed([](json& w) { w["3"]["inputs"]["steps"] = 0; })), 3, "steps");
    expect_refused(run_file(changed([](json& w) { w["5"]["inputs"]["width"] = 0; })), 3, "width");
    expect_refused(run_file(changed([](json& w) { w["5"]["inputs"]["width"] = 1 << 20; })), 3,
                   "width");
    expect_refused(run_file(changed([](json& w) { w["9"]["inputs"].erase("images"); })), 3,
                   "images");
}

TEST_F(Run, NamesThePortedSamplersForOneThatIsNotBeforeAnythingIsLoaded) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--dry-run"}, {"--runtime-library", "/nowhere"}}) {
        auto words = demo(output(), more);
        words.insert(words.end(), {"--set", "3.sampler_name=dpm_fast"});
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.status, 3);
        for (const auto* part : {"node 3 (KSampler)", "dpm_fast", "dpmpp_2m"})
            EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
    }
    EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(Run, RefusesValuesThatCannotBeUsedBeforeAnythingIsLoaded) {
    const auto with_loader = [&](const char* type, const json& inputs) {
        return changed([&](json& w) {
            w["20"] = {{"class_type", type}, {"inputs", inputs}};
            const bool is_vae = std::string(type) == "VAELoader";
            w[is_vae ? "8" : "6"]["inputs"][is_vae ? "vae" : "clip"] = {"20", 0};
        });
    };
    const auto models = folder_.path() / "models";
    std::filesystem::create_directories(models / "text_encoders");
    std::ofstream(models / "text_encoders/a.safetensors") << "";
    const auto expect = [&](const std::string& file, const std::string& part) {
        for (const std::vector<std::string>& more :
             {std::vector<std::string>{"--runtime-library", "/nowhere"}, {"--dry-run"}}) {
            auto words = more;
            words.insert(words.end(), {"--models", models.string()});
            expect_refused(run_file(file, words), 3, part);
        }
    };
    for (const auto* prefix : {"../x", "/tmp/x", "a/../../x", "a\\u0000b"})
        expect(changed([&](json& w) {
                   w["9"]["inputs"]["filename_prefix"] =
                       json::parse("\"" + std::string(prefix) + "\"");
               }),
               "prefix");
    expect(changed([](json& w) { w["9"]["inputs"]["filename_prefix"] = std::string(245, 'x'); }),
           "245");
    expect(with_loader("VAELoader", {{"vae_name", "pixel_space"}}), "pixel_space");
    expect(with_loader("CLIPLoader", {{"clip_name", "a.safetensors"}, {"type", "sd3"}}), "sd3");
    EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(Run, AsksNothingOfNodesThatNoOutputNeeds) {
    const auto file = changed([](json& w) {
        w["33"] = w["3"];
        w["33"]["inputs"]["sampler_name"] = "dpm_fast";
    });
    EXPECT_EQ(run_file(file, {"--dry-run"}).status, 0);
}

TEST_F(Run, KeepsALogOfTheDetailAskedFor) {
    const auto silent = run_program(demo(output()));
    EXPECT_FALSE(has(silent.err, "info: ")) << silent.err;
    const auto info = run_program(demo(output(), {"--log-level", "info"}));
    for (const auto* part :
         {"info: opened ", "ballast-demo.safetensors: ",
          "info: loaded ballast-demo.safetensors (unet): ", " s, computes on cpu"})
        EXPECT_TRUE(has(info.err, part)) << part << '\n' << info.err;
    EXPECT_FALSE(has(info.err, "debug: ")) << info.err;
    const auto verbose = run_program(demo(output(), {"--verbose"}));
    for (const auto* part : {"debug: node 3 (KSampler) ran for ", "debug: gave back "})
        EXPECT_TRUE(has(verbose.err, part)) << part << '\n' << verbose.err;
}

TEST_F(Run, TellsOfItsModelsAlsoWhenNothingIsKept) {
    const auto outcome = run_program(demo(output(), {"--cache-none", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto document = json::parse(outcome.out);
    EXPECT_EQ(document.at("models").size(), 3U);
    const auto& cpu = document.at("devices").at("cpu");
    EXPECT_GT(cpu.at("planned"), 0);
    EXPECT_EQ(cpu.at("planned"), cpu.at("realised"));
    EXPECT_EQ(cpu.at("realised"), cpu.at("by_tag").at("weights"));
}

TEST_F(Run, DoesItsWorkThoughNothingCanBeSaid) {
    for (const auto* level : {"warning", "debug"}) {
        const auto outcome = run_program(demo(output(), {"--log-level", level}),
                                         {.error_stream = ErrorStream::full_disk});
        EXPECT_EQ(outcome.status, 0) << outcome.out;
        EXPECT_TRUE(has(outcome.out, ".png")) << outcome.out;
    }
    EXPECT_EQ(files_in(output()), 2U);
    const auto refused = run_program(demo(output(), {"--set", "3.steps=0"}),
                                     {.error_stream = ErrorStream::full_disk});
    EXPECT_EQ(refused.status, 3);
}

TEST_F(Run, DrawsABarOnATerminalAndLeavesItClean) {
    const auto outcome = run_program(demo(output(), {"--set", "3.steps=3", "--log-level", "info"}),
                                     {.error_stream = ErrorStream::terminal});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    // the finished bar stays as a record: every step, the rate, the memory
    EXPECT_TRUE(has(outcome.err, "3 KSampler  [########################]  3/3")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, " s/step")) << outcome.err;
    // lines of the log begin where the bar was erased, and the last thing is one of them
    EXPECT_TRUE(has(outcome.err, "\r\x1b[K")) << outcome.err;
    const auto loaded = outcome.err.find("info");
    ASSERT_NE(loaded, std::string::npos) << outcome.err;
    const auto erased = outcome.err.rfind("\r\x1b[K", loaded);
    ASSERT_NE(erased, std::string::npos) << outcome.err;
    EXPECT_FALSE(has(outcome.err.substr(erased, loaded - erased), "Loader")) << outcome.err;
    const auto last = outcome.err.substr(outcome.err.rfind("\r\x1b[K"));
    EXPECT_TRUE(has(last, "tag=after_run|cpu=") && last.ends_with("\n")) << outcome.err;
}

TEST_F(Run, RefusesAPictureThatTheLimitCannotHold) {
    const auto outcome = run_program(demo(output(), {"--memory-limit", "cpu=100mb", "--set",
                                                     "5.width=16384", "--set", "5.height=16384"}));
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    for (const auto* part :
         {"error: ", "node ", "needed", "available", "hint: ", "smaller picture", "--memory-limit"})
        EXPECT_TRUE(has(outcome.err, part)) << part << '\n' << outcome.err;
    EXPECT_EQ(files_in(output()), 0U);
}

TEST_F(Run, SaysSoWhenPicturesCannotBeWritten) {
    const auto blocked = written("not a folder");
    const auto outcome = run_program(demo(blocked + "/inside"));
    EXPECT_EQ(outcome.status, 3);
    EXPECT_TRUE(has(outcome.err, "--output")) << outcome.err;
}

TEST_F(Run, LeavesNoHalfPictureOnAFullDisk) {
    const auto outcome = run_program(demo(output()), {.most_file_bytes = 1000});
    EXPECT_EQ(outcome.status, 5) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "hint: ")) << outcome.err;
    EXPECT_EQ(files_in(output()), 0U);
}

TEST_F(Run, FailsWhileRunningWhenThereIsNoRoomForTheReport) {
    const auto outcome =
        run_program(demo(output(), {"--report", "/dev/full", "--set", "3.steps=1"}));
    EXPECT_EQ(outcome.status, 5) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "cannot write the report")) << outcome.err;
    EXPECT_EQ(files_in(output()), 1U);
}

TEST_F(Run, TakesAPromptOfTenThousandWords) {
    std::string prompt;
    for (int i = 0; i < 10'000; ++i) prompt += "circle ";
    const auto file = changed([&](json& w) {
        w["6"]["inputs"]["text"] = prompt;
        w["3"]["inputs"]["steps"] = 1;
    });
    const auto outcome = run_file(file);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(Run, StopsAtTheNextLayerOnCtrlC) {
    auto words = demo(output(), {"--set", "3.steps=10000"});
    const auto outcome = run_program(
        words,
        {.when_seen = [](int process) { ::kill(process, SIGINT); }, .wait_for = "KSampler: step"});
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_EQ(files_in(output()), 0U);
}

TEST_F(Run, EndsAtOnceWhenAskedTwice) {
    const auto outcome =
        run_program(demo(output(), {"--set", "3.steps=10000"}), {.when_seen =
                                                                     [](int process) {
                                                                         // two of one kind may
                                                                         // arrive as one
                                                                         ::kill(process, SIGINT);
                                                                         ::kill(process, SIGTERM);
                                                                     },
                                                                 .wait_for = "KSampler: step"});
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "once more to stop at once")) << outcome.err;
    EXPECT_FALSE(has(outcome.err, "error: ")) << "it did not wait for the layer: " << outcome.err;
}

TEST_F(Run, StopsWhenItsTerminalGoesAway) {
    const auto outcome = run_program(
        demo(output(), {"--set", "3.steps=10000"}),
        {.when_seen = [](int process) { ::kill(process, SIGHUP); }, .wait_for = "KSampler: step"});
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "once more to stop at once")) << outcome.err;
}

TEST_F(Run, TellsItsResultsThoughAskedTwice) {
    const auto report = folder_.path() / "report";
    ASSERT_EQ(::mkfifo(report.c_str(), 0600), 0);
    int reader = -1;
    const auto outcome = run_program(
        demo(output(), {"--set", "3.steps=10000", "--json", "--report", report.string()}),
        {.when_seen =
             [&](int process) {
                 ::kill(process, SIGINT);
                 // opened when the other side opens it: the report is being written
                 reader = ::open(report.c_str(), O_RDONLY);
                 ::kill(process, SIGINT);
             },
         .wait_for = "KSampler: step"});
    ::close(reader);
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out).at("status"), "interrupted");
}

TEST_F(Run, PrintsOneDocumentWhateverLibrariesPrint) {
    const auto outcome =
        run_program(demo(output(), {"--json", "--set", "3.steps=1"}),
                    {.environment = {{"DNNL_VERBOSE", "1"}, {"MKL_VERBOSE", "1"}}});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(json::accept(outcome.out)) << outcome.out.substr(0, 300);
    EXPECT_TRUE(has(outcome.err, "verbose") || has(outcome.err, "VERBOSE"));
}

TEST_F(Run, UsesASensibleNumberOfThreads) {
    const auto outcome =
        run_program(demo(output(), {"--json", "--threads", "4096", "--set", "3.steps=1"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "warning: --threads 4096")) << outcome.err;
    EXPECT_TRUE(has(json::parse(outcome.out).at("warnings").dump(), "--threads 4096"));
}

TEST_F(Run, StopsConditioningFromGrowingWithoutEnd) {
    const auto file = changed([](json& w) {
        for (int i = 0; i < 24; ++i) {
            const auto from = i == 0 ? "6" : std::to_string(99 + i);
            w[std::to_string(100 + i)] = {
                {"class_type", "ConditioningCombine"},
                {"inputs", {{"conditioning_1", {from, 0}}, {"conditioning_2", {from, 0}}}}};
        }
        w["3"]["inputs"]["positive"] = {"123", 0};
    });
    expect_refused(run_file(file), 3, "entries together");
}

TEST_F(Run, GoesOnWhenStartedWithInterruptsIgnored) {
    const auto outcome = run_program(demo(output(), {"--set", "3.steps=10"}),
                                     {.when_seen = [](int process) { ::kill(process, SIGINT); },
                                      .wait_for = "KSampler",
                                      .ignores_interrupts = true});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(files_in(output()), 1U);
}

TEST_F(Run, TakesUnusualNamesOfTextsFromAPictureToTheNext) {
    auto submission = json::object();
    submission["prompt"] = json::parse(bytes_of(in_repository("data/demo/workflow.json")));
    submission["extra_data"]["extra_pnginfo"] = {{"caf\u00E9", "kept"}, {"\u753B", "left out"}};
    const auto first = run_file(written(submission.dump()), {"--json"});
    ASSERT_EQ(first.status, 0) << first.err;
    EXPECT_TRUE(has(json::parse(first.out).at("warnings").dump(), "\u753B")) << first.out;
    const std::string picture = json::parse(first.out).at("outputs")[0].at("path");
    const auto again = run_file(picture, {"--json"});
    ASSERT_EQ(again.status, 0) << again.err;
    const std::string other = json::parse(again.out).at("outputs")[0].at("path");
    EXPECT_TRUE(has(bytes_of(other), std::string("caf\xE9\0\"kept\"", 11)));
}

TEST_F(Run, DrawsBlackAndNamesTheLayerWhenWeightsAreNotNumbers) {
    const auto folder = folder_.path() / "models" / "checkpoints";
    std::filesystem::create_directories(folder);
    auto bytes = bytes_of(in_repository("data/demo/models/checkpoints/ballast-demo.safetensors"));
    // the weight of one layer: fp16 0x7e00 is not a number
    const std::string name = "\"model.diffusion_model.middle_block.0.in_layers.2.weight\":";
    const auto entry = bytes.find(name);
    ASSERT_NE(entry, std::string::npos);
    const auto open = bytes.find('[', bytes.find("data_offsets", entry));
    const auto begin = std::stoull(bytes.substr(open + 1));
    std::uint64_t header = 0;
    for (std::size_t i = 8; i-- > 0;) header = header << 8U | static_cast<unsigned char>(bytes[i]);
    for (std::size_t i = 0; i < 64; i += 2) {
        bytes[8 + header + begin + i] = '\x00';
        bytes[8 + header + begin + i + 1] = '\x7e';
    }
    std::ofstream(folder / "ballast-demo.safetensors", std::ios::binary) << bytes;

    auto words = demo(output(), {"--json"});
    words[3] = (folder_.path() / "models").string();
    const auto outcome = run_program(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto warnings = json::parse(outcome.out).at("warnings").dump();
    EXPECT_TRUE(has(warnings, "middle_block.0.in_layers.2")) << warnings;
}

}  // namespace
}  // namespace ballast::testing
