#include "ballast/engine/core/settings_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace ballast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A settings file that lives as long as the test.
class SettingsFile : public testing::Test {
protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        path_ = testing::TempDir() + "/ballast-" + test->name() + ".json";
    }
    void TearDown() override { std::filesystem::remove(path_); }

    Result<std::vector<GivenSetting>> read(const std::string& text) {
        std::ofstream(path_) << text;
        return read_settings_file(path_);
    }
    Error refusal(const std::string& text) {
        const auto result = read(text);
        EXPECT_FALSE(result) << text;
        return result ? Error{} : result.error();
    }

    std::filesystem::path path_;
};

TEST_F(SettingsFile, HoldsEveryKindOfValue) {
    const auto given = read(R"({"models": ["/a", "/b"], "output": "pictures", "threads": 4,
                                "quiet": true, "memory-limit": {"cpu": "8gb"}})");
    ASSERT_TRUE(given) << to_string(given.error());
    const auto settings = resolve_settings({.file = *given});
    ASSERT_TRUE(settings) << to_string(settings.error());
    EXPECT_THAT(settings->list("models"), ElementsAre("/a", "/b"));
    EXPECT_EQ(settings->text("output"), "pictures");
    EXPECT_EQ(settings->integer("threads"), 4);
    EXPECT_TRUE(settings->flag("quiet"));
    EXPECT_EQ(settings->device_sizes("memory-limit").at(kCpu).count(), 8ULL << 30U);
}

TEST_F(SettingsFile, MayGiveAListOfOneAsASingleValue) {
    const auto given = read(R"({"models": "/a"})");
    ASSERT_TRUE(given);
    EXPECT_THAT(given->front().texts, ElementsAre("/a"));
}

TEST_F(SettingsFile, NamesTheNearestSettingForAnUnknownOne) {
    const auto error = refusal(R"({"treads": 4})");
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ(error.place.key, "treads");
    EXPECT_THAT(error.hint, HasSubstr("threads"));
}

TEST_F(SettingsFile, RefusesValuesOfTheWrongForm) {
    for (const auto* text :
         {R"({"quiet": "yes"})", R"({"threads": "4"})", R"({"threads": 1.5})", R"({"output": 3})",
          R"({"output": ["a"]})", R"({"models": [1]})", R"({"memory-limit": 4})",
          R"({"memory-limit": {"cpu": true}})", R"({"output": null})"}) {
        const auto error = refusal(text);
        EXPECT_EQ(error.code, Code::usage) << text;
        EXPECT_THAT(error.why, HasSubstr("must be")) << text;
    }
}

TEST_F(SettingsFile, RefusesWhatBelongsOnTheCommandLine) {
    EXPECT_THAT(refusal(R"({"dry-run": true})").why, HasSubstr("command line"));
}

TEST_F(SettingsFile, MustBeAJsonObject) {
    for (const auto* text : {"", "[]", "3", "{", "{\"a\":1}}", "\xFF\xFE"})
        EXPECT_EQ(refusal(text).code, Code::corrupt_file) << text;
}

TEST_F(SettingsFile, IsToldWhereItIsBroken) {
    EXPECT_THAT(refusal("{\n  \"output\": \"a\"\n  \"threads\": 4}").why,
                HasSubstr("not JSON: line 3"));
    EXPECT_THAT(refusal(std::string("{}\0{}", 5)).why, HasSubstr("zero character"));
    EXPECT_FALSE(refusal("[]").hint.empty());
}

TEST_F(SettingsFile, GivesEachSettingOnce) {
    const auto error = refusal(R"({"output": "a", "threads": 4, "output": "b"})");
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ(error.place.key, "output");
    EXPECT_THAT(error.why, HasSubstr("twice"));
    EXPECT_THAT(refusal(R"({"memory-limit": {"cpu": "1gb", "cpu": "2gb"}})").why,
                HasSubstr("twice"));
}

TEST_F(SettingsFile, MustBeSmall) {
    EXPECT_THAT(refusal(std::string(2'000'000, ' ')).why, HasSubstr("1.00 MiB"));
}

TEST_F(SettingsFile, MustExistAndBeReadable) {
    EXPECT_EQ(read_settings_file(path_.string() + ".missing").error().code, Code::not_found);
    EXPECT_EQ(read_settings_file(testing::TempDir()).error().code, Code::io);
}

}  // namespace
}  // namespace ballast
