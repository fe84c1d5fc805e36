#include "ballast/engine/core/error.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ballast/engine/core/result.hpp"

namespace ballast {
namespace {

using namespace std::string_view_literals;

constexpr std::array kCodes{Code::internal,    Code::usage,        Code::not_available,
                            Code::not_found,   Code::foreign_file, Code::corrupt_file,
                            Code::unsupported, Code::bad_workflow, Code::bad_value,
                            Code::io,          Code::does_not_fit, Code::out_of_memory,
                            Code::device_lost, Code::write_failed, Code::interrupted};

TEST(Code, HasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (const auto code : kCodes) names.insert(to_string(code));
    EXPECT_EQ(names.size(), kCodes.size());
    EXPECT_EQ(to_string(Code::corrupt_file), "corrupt_file");
}

TEST(Code, DecidesTheExitStatus) {
    EXPECT_EQ(exit_status(Code::internal), 1);
    EXPECT_EQ(exit_status(Code::usage), 2);
    EXPECT_EQ(exit_status(Code::not_available), 2);
    for (const auto code : {Code::not_found, Code::foreign_file, Code::corrupt_file,
                            Code::unsupported, Code::bad_workflow, Code::bad_value, Code::io})
        EXPECT_EQ(exit_status(code), 3) << to_string(code);
    EXPECT_EQ(exit_status(Code::does_not_fit), 4);
    EXPECT_EQ(exit_status(Code::out_of_memory), 5);
    EXPECT_EQ(exit_status(Code::device_lost), 5);
    EXPECT_EQ(exit_status(Code::write_failed), 5);
    EXPECT_EQ(exit_status(Code::interrupted), 130);
}

TEST(Place, JoinsWhatIsKnown) {
    EXPECT_EQ(to_string(Place{}), "");
    EXPECT_EQ(to_string(Place{.file = "m.safetensors"}), "m.safetensors");
    EXPECT_EQ(to_string(Place{.offset = 0}), "offset 0");
    EXPECT_EQ(to_string(Place{.file = "w.json", .node = "9", .key = "images"}),
              "w.json, node 9, images");
    EXPECT_EQ(
        to_string(Place{.file = "f", .offset = 12, .node = "3", .key = "a.weight", .column = 4}),
        "f, offset 12, node 3, a.weight, column 4");
}

TEST(Error, ReadsAsWhatWhereWhy) {
    EXPECT_EQ(to_string(Error{.what = "cannot open the model",
                              .why = "there is no such file",
                              .place = {.file = "a.safetensors"},
                              .hint = "check the path"}),
              "cannot open the model: a.safetensors: there is no such file");
    EXPECT_EQ(to_string(Error{.what = "interrupted"}), "interrupted");
    EXPECT_EQ(to_string(Error{.what = "allocation string",
                              .why = "unknown device",
                              .place = {.key = "gpu0,2gb", .column = 7}}),
              "allocation string, column 7 (\"gpu0,2gb\"): unknown device");
    EXPECT_EQ(to_string(Error{.what = "bad value", .why = "negative"}), "bad value: negative");
}

TEST(Error, IsOneLineWhateverTheFileSays) {
    const auto line = to_string(Error{.what = "bad name",
                                      .why = "line 1\nline 2\r",
                                      .place = {.file = "a\x1b[31m", .key = "\x07"}});
    EXPECT_EQ(line, "bad name: a\\x1b[31m, \\x07: line 1\\x0aline 2\\x0d");
}

TEST(Escaped, KeepsTextAsItIs) {
    EXPECT_EQ(escaped(""), "");
    EXPECT_EQ(escaped("plain ASCII ~ \\n"), "plain ASCII ~ \\n");
    EXPECT_EQ(escaped("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x8e\xa8"),
              "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x8e\xa8");
}

TEST(Escaped, ShowsControlCharacters) {
    EXPECT_EQ(escaped("\0\t\n\x1b\x7f"sv), "\\x00\\x09\\x0a\\x1b\\x7f");
    EXPECT_EQ(escaped("\xc2\x85"), "\\xc2\\x85") << "C1: next line";
    EXPECT_EQ(escaped("\xc2\xa0"), "\xc2\xa0") << "the first that is none";
}

TEST(Escaped, ShowsWhatWouldTurnOrBreakALine) {
    EXPECT_EQ(escaped("\xe2\x80\xa8\xe2\x80\xa9"), "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
    EXPECT_EQ(escaped("\xe2\x80\xae"
                      "cod"),
              "\\xe2\\x80\\xae"
              "cod")
        << "right-to-left override";
    EXPECT_EQ(escaped("\xe2\x81\xa6"), "\\xe2\\x81\\xa6") << "left-to-right isolate";
    EXPECT_EQ(escaped("\xe2\x80\x94 \xe2\x80\xa6"), "\xe2\x80\x94 \xe2\x80\xa6") << "dash, dots";
}

TEST(Escaped, ShowsBrokenUtf8ByteByByte) {
    EXPECT_EQ(escaped("a\xff"), "a\\xff");
    EXPECT_EQ(escaped("\xc3"), "\\xc3");
    EXPECT_EQ(escaped("\xe6\xbc"), "\\xe6\\xbc");
    EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
    EXPECT_EQ(escaped("\xc0\xaf!"), "\\xc0\\xaf!") << "an overlong slash";
}

TEST(Shortfall, IsWhatIsMissing) {
    EXPECT_EQ((Shortfall{.needed = 10, .available = 4}.missing()), 6U);
    EXPECT_EQ((Shortfall{.needed = 4, .available = 10}.missing()), 0U);
}

TEST(Result, CarriesAnErrorOutOfAnyFunction) {
    const auto refuse = []() -> Result<int> { return fail({.code = Code::io, .what = "no"}); };
    const auto pass_on = [&]() -> Result<void> {
        auto number = refuse();
        if (!number) return fail(std::move(number).error());
        return {};
    };
    ASSERT_FALSE(pass_on().has_value());
    EXPECT_EQ(pass_on().error().code, Code::io);
}

}  // namespace
}  // namespace ballast
