#include "ballast/engine/core/json_log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace ballast {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::content_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Variables = std::map<std::string, std::string>;

std::optional<JsonLogOptions> options_of(const Variables& variables) {
    return json_log_options([&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    });
}

/// The options of a log that has a path, and this variable beside it.
JsonLogOptions with(const char* name, const char* value) {
    return options_of({{"MGPU_JSON_LOG_PATH", "log.jsonl"}, {name, value}}).value();
}

TEST(JsonLogOptions, ComeFromTheEnvironment) {
    const auto options = options_of({{"MGPU_JSON_LOG_PATH", "/logs/a.jsonl"},
                                     {"MGPU_JSON_OVERWRITE", "false"},
                                     {"MGPU_JSON_MIN_LEVEL", "ERROR"},
                                     {"MGPU_JSON_WORKFLOW", "portrait"},
                                     {"MGPU_JSON_PROMPT", "17"},
                                     {"MGPU_JSON_STATIC_FIELDS", R"({"host":"a"})"}});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->path, "/logs/a.jsonl");
    EXPECT_FALSE(options->starts_empty);
    EXPECT_EQ(options->least, LogLevel::error);
    EXPECT_EQ(options->workflow, "portrait");
    EXPECT_EQ(options->prompt, "17");
    EXPECT_EQ(options->static_fields, R"({"host":"a"})");
}

TEST(JsonLogOptions, AreNothingWithoutAPath) {
    EXPECT_FALSE(options_of({}));
    EXPECT_FALSE(options_of({{"MGPU_JSON_LOG_PATH", ""}, {"MGPU_JSON_WORKFLOW", "w"}}));
}

TEST(JsonLogOptions, HaveDefaults) {
    const auto options = options_of({{"MGPU_JSON_LOG_PATH", "log.jsonl"}});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->starts_empty);
    EXPECT_EQ(options->least, LogLevel::focus);
    EXPECT_EQ(options->workflow + options->prompt + options->static_fields, "");
}

TEST(JsonLogOptions, ReadWhetherTheFileStartsEmpty) {
    for (const auto* text : {"false", "0", "no", "off", "False", "OFF", " no "})
        EXPECT_FALSE(with("MGPU_JSON_OVERWRITE", text).starts_empty) << text;
    for (const auto* text : {"true", "1", "yes", "on", "", " ", "perhaps", "00"})
        EXPECT_TRUE(with("MGPU_JSON_OVERWRITE", text).starts_empty) << text;
}

TEST(JsonLogOptions, ReadTheLeastLevelByNameOrNumber) {
    const std::map<std::string, LogLevel> levels{
        {"DEBUG", LogLevel::debug},    {"debug", LogLevel::debug},  {"10", LogLevel::debug},
        {"INFO", LogLevel::info},      {"20", LogLevel::info},      {"FOCUS", LogLevel::focus},
        {"25", LogLevel::focus},       {" 30 ", LogLevel::warning}, {"Warning", LogLevel::warning},
        {"error", LogLevel::error},    {"40", LogLevel::error},     {"", LogLevel::focus},
        {"CRITICAL", LogLevel::focus}, {"35", LogLevel::focus},     {"-10", LogLevel::focus},
        {"1e1", LogLevel::focus},      {"10.0", LogLevel::focus}};
    for (const auto& [text, level] : levels)
        EXPECT_EQ(with("MGPU_JSON_MIN_LEVEL", text.c_str()).least, level) << text;
}

class JsonLog : public ::testing::Test {
protected:
    [[nodiscard]] JsonLogOptions options() const { return {.path = file_}; }

    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> lines;
        std::istringstream content(content_of(file_));
        for (std::string line; std::getline(content, line);) lines.push_back(line);
        return lines;
    }

    /// What the file says of one line that is written now, and nothing else.
    json written(const JsonLogOptions& options, std::string_view line,
                 LogLevel level = LogLevel::warning) {
        json_log_sink(options, clock_)->write(level, line);
        const auto lines = texts();
        return lines.size() == 1 ? json::parse(lines.front()) : json(lines);
    }

    testing::TemporaryFolder folder_;
    std::filesystem::path file_ = folder_ / "log.jsonl";
    FixedWallClock clock_{UtcTime{std::chrono::sys_days{std::chrono::January / 2 / 2026}} + 3h +
                          4min + 5s + 678901us};
};

TEST_F(JsonLog, WritesAnObjectPerLine) {
    const Log log({json_log_sink(options(), clock_)});
    log.focus("hello");
    clock_.set(clock_.utc() + 1us);
    log.error("a \"quoted\" one");
    EXPECT_THAT(texts(),
                ElementsAre(R"({"timestamp":"2026-01-02T03:04:05.678901Z","level":"FOCUS",)"
                            R"("name":"MultiGPU","message":"hello"})",
                            R"({"timestamp":"2026-01-02T03:04:05.678902Z","level":"ERROR",)"
                            R"("name":"MultiGPU","message":"a \"quoted\" one"})"));
}

TEST_F(JsonLog, CallsTheLevelsAsPythonDoes) {
    auto all = options();
    all.least = LogLevel::debug;
    const Log log({json_log_sink(all, clock_)});
    log.debug("");
    log.info("");
    log.focus("");
    log.warning("");
    log.error("");
    std::vector<std::string> levels;
    for (const auto& text : texts()) levels.push_back(json::parse(text).at("level"));
    EXPECT_THAT(levels, ElementsAre("DEBUG", "INFO", "FOCUS", "WARNING", "ERROR"));
}

TEST_F(JsonLog, LeavesOutWhatIsBelowItsLevel) {
    const Log log({json_log_sink(options(), clock_)});
    log.debug("no");
    log.info("no");
    EXPECT_THAT(texts(), IsEmpty());
    log.focus("yes");
    EXPECT_THAT(texts(), SizeIs(1));
}

TEST_F(JsonLog, TellsTheCategoryThatALineBeginsWith) {
    EXPECT_EQ(written(options(), "[EVICTION] Device cuda:0").at("event_category"), "EVICTION");
    EXPECT_EQ(written(options(), "[a[b] c]").at("event_category"), "a[b");
    for (const auto* line : {"no [category] here", " [late]", "[open", "[]", "[", ""})
        EXPECT_FALSE(written(options(), line).contains("event_category")) << line;
}

TEST_F(JsonLog, KnowsTheLinesOfModelManagement) {
    const auto line = written(options(), "[MultiGPU Model Management] [EVICTION] Device cuda:0");
    EXPECT_EQ(line.at("component"), "model_management");
    EXPECT_EQ(line.at("event_category"), "MultiGPU Model Management");
    EXPECT_EQ(line.at("message"), "[MultiGPU Model Management] [EVICTION] Device cuda:0");
    EXPECT_FALSE(written(options(), "[MultiGPU DisTorch V2] done").contains("component"));
}

TEST_F(JsonLog, NamesWorkflowAndPromptWhereTheyAreKnown) {
    auto named = options();
    named.workflow = "portrait";
    named.prompt = "17";
    const auto line = written(named, "m");
    EXPECT_EQ(line.at("workflow_id"), "portrait");
    EXPECT_EQ(line.at("prompt_id"), "17");
    EXPECT_FALSE(written(options(), "m").contains("workflow_id"));
    EXPECT_FALSE(written(options(), "m").contains("prompt_id"));
}

TEST_F(JsonLog, LetsStaticFieldsReplaceItsOwn) {
    auto with_fields = options();
    with_fields.static_fields = R"({"host":"a","slots":[1,{"b":null}],"name":"ours","level":25})";
    const auto line = written(with_fields, "m");
    EXPECT_EQ(line.at("host"), "a");
    EXPECT_EQ(line.at("slots"), json::parse(R"([1,{"b":null}])"));
    EXPECT_EQ(line.at("name"), "ours");
    EXPECT_EQ(line.at("level"), 25);
    EXPECT_EQ(line.at("message"), "m");
}

TEST_F(JsonLog, IgnoresStaticFieldsThatAreNoObject) {
    const auto plain = written(options(), "m");
    const std::string deep = R"({"a":)" + std::string(50'000, '[') + std::string(50'000, ']') + "}";
    for (const std::string text : {"{", "[1]", "7", "\"a\"", "null", "{\"a\":1} b", "{\"a\":1e999}",
                                   "{\"a\":\"\xff\"}", deep.c_str()}) {
        auto with_fields = options();
        with_fields.static_fields = text;
        EXPECT_EQ(written(with_fields, "m"), plain) << text.substr(0, 20);
    }
}

TEST_F(JsonLog, ReplacesBrokenText) {
    auto broken = options();
    broken.workflow = "w\xc3";
    const auto line = written(broken, "caf\xc3\xa9 \xff\n");
    EXPECT_EQ(line.at("message"), "caf\xc3\xa9 \xef\xbf\xbd\n");
    EXPECT_EQ(line.at("workflow_id"), "w\xef\xbf\xbd");
}

TEST_F(JsonLog, StartsEmptyOrGoesOn) {
    folder_.write("log.jsonl", "old\n");
    auto going_on = options();
    going_on.starts_empty = false;
    json_log_sink(going_on, clock_)->write(LogLevel::error, "new");
    EXPECT_THAT(texts(), SizeIs(2));
    EXPECT_EQ(texts().front(), "old");
    const auto sink = json_log_sink(options(), clock_);
    EXPECT_THAT(texts(), IsEmpty()) << "at the start, not with the first line";
}

TEST_F(JsonLog, StopsNothingWhenItCannotWrite) {
    for (const auto& path : {folder_ / "missing" / "log.jsonl", folder_.path(),
                             std::filesystem::path("/dev/full"), std::filesystem::path{}}) {
        const auto sink = json_log_sink({.path = path}, clock_);
        EXPECT_NO_THROW(sink->write(LogLevel::error, "lost")) << path;
        EXPECT_NO_THROW(sink->write(LogLevel::error, "lost as well")) << path;
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "missing"));
}

TEST_F(JsonLog, WaitsForNobodyWhoReadsAPipe) {
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    const auto unread = json_log_sink(options(), clock_);
    unread->write(LogLevel::error, "lost");

    const int reader = ::open(file_.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    const auto sink = json_log_sink(options(), clock_);
    // more than a pipe holds; what does not fit is dropped
    for (int i = 0; i < 100; ++i) sink->write(LogLevel::error, std::string(10'000, 'a'));
    std::string piped(2'000'000, '\0');
    std::size_t size = 0;
    const auto read_on = [&] {
        for (ssize_t got = 0; (got = ::read(reader, piped.data() + size, piped.size() - size)) > 0;)
            size += static_cast<std::size_t>(got);
    };
    read_on();
    EXPECT_LT(size, 1'000'000U);
    // and a line that was cut in two spoils none of those behind it
    sink->write(LogLevel::error, "again");
    read_on();
    ::close(reader);
    const std::string_view all(piped.data(), size);
    const auto begin = all.rfind('\n', all.size() - 2) + 1;
    EXPECT_EQ(json::parse(all.substr(begin)).at("message"), "again");
}

TEST_F(JsonLog, WritesWholeLinesFromAllThreads) {
    const auto sink = json_log_sink(options(), clock_);
    auto going_on = options();
    going_on.starts_empty = false;
    const auto another = json_log_sink(going_on, clock_);
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([log = Log({t == 0 ? another : sink}), t] {
                for (int i = 0; i < 100; ++i)
                    log.error(std::string(1'000, static_cast<char>('a' + t)));
            });
    }
    const auto lines = texts();
    ASSERT_THAT(lines, SizeIs(400));
    std::map<std::string, int> counts;
    for (const auto& line : lines) ++counts[json::parse(line).at("message").get<std::string>()];
    for (int t = 0; t < 4; ++t)
        EXPECT_EQ(counts[std::string(1'000, static_cast<char>('a' + t))], 100) << t;
}

}  // namespace
}  // namespace ballast
