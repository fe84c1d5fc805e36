#include "ballast/graph/json.hpp"

#include <gmock/gmock.h>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Error error_of(std::string_view text) {
    auto parsed = parse_json(text, "some.json");
    if (parsed) throw std::invalid_argument("this is JSON after all");
    return std::move(parsed).error();
}

TEST(ParseJson, KeepsMembersInDocumentOrder) {
    EXPECT_EQ(parse_json(R"({"b":1,"a":[true,null,"x"],"c":{"z":-1,"y":2.5}})")->dump(),
              R"({"b":1,"a":[true,null,"x"],"c":{"z":-1,"y":2.5}})");
}

TEST(ParseJson, KeepsAllBitsOfIntegers) {
    const Json values = testing::json("[18446744073709551615, -9223372036854775808, 0]");
    EXPECT_EQ(values.dump(), "[18446744073709551615,-9223372036854775808,0]");
    EXPECT_TRUE(testing::json("18446744073709551616").is_number_float());
}

TEST(ParseJson, TakesTheLastOfRepeatedMembersInPlaceOfTheFirst) {
    EXPECT_EQ(testing::json(R"({"a":1,"b":2,"a":3})").dump(), R"({"a":3,"b":2})");
    std::string large = "{";
    for (int i = 0; i < 100; ++i) large += "\"" + std::to_string(i) + "\":0,";
    const Json object = testing::json(large + R"("7":"seven"})");
    EXPECT_EQ(object.size(), 100U);
    EXPECT_EQ(object["7"], "seven");
}

TEST(ParseJson, ReadsLargeObjectsInLinearTime) {
    std::string text = "{";
    for (int i = 0; i < 200000; ++i) text += "\"" + std::to_string(i) + "\":" + "1,";
    text.back() = '}';
    EXPECT_EQ(testing::json(text).size(), 200000U);  // quadratic time would take minutes
}

TEST(ParseJson, SaysWhereTheTextBreaks) {
    const auto error = error_of("{\n  \"1\": {\"a\": 1,}\n}");
    EXPECT_EQ(error.code, Code::bad_workflow);
    EXPECT_EQ(error.place.file, "some.json");
    EXPECT_THAT(error.why, StartsWith("line 2, column 16: "));
    EXPECT_THAT(error_of("").why, StartsWith("line 1, column 1: "));
    EXPECT_THAT(error_of("{} x").why, StartsWith("line 1, column 4: "));
    EXPECT_THAT(error_of("[1e999]").why, HasSubstr("number overflow"));
}

TEST(ParseJson, RefusesDeepNestingWithoutOverflow) {
    EXPECT_TRUE(parse_json(std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']')));
    EXPECT_THAT(error_of(std::string(1000000, '[')).why, HasSubstr("nested deeper than 200"));
    std::string objects;
    for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
    EXPECT_THAT(error_of(objects).why, HasSubstr("nested deeper"));
}

TEST(ParseJson, ReadsWordsThatPythonWritesForNumbersAsNull) {
    EXPECT_EQ(testing::json(R"({"a":[NaN],"b":-Infinity,"c":Infinity,"d":"NaN \" NaN"})").dump(),
              R"({"a":[null],"b":null,"c":null,"d":"NaN \" NaN"})");
    EXPECT_FALSE(parse_json("NaNcy"));
}

TEST(ParseJson, SkipsAByteOrderMark) { EXPECT_EQ(testing::json("\xEF\xBB\xBF[1]"), Json({1})); }

TEST(ParseJson, RefusesMalformedText) {
    EXPECT_FALSE(parse_json("\"\xFF\""));
    EXPECT_FALSE(parse_json(std::string_view("[1\0]", 4)));
}

TEST(Json, FindsMembersOfObjectsOnly) {
    const Json object = {{"a", 1}};
    EXPECT_EQ(*find_member(object, "a"), 1);
    EXPECT_EQ(find_member(object, "b"), nullptr);
    EXPECT_EQ(find_member(Json::array({1}), "a"), nullptr);
    EXPECT_EQ(find_member(Json(), "a"), nullptr);
}

TEST(ParseJson, IgnoresNothingBehindAZeroCharacter) {
    const auto read = parse_json(std::string_view("{\"1\": {}}\n\0{broken", 18), "w.json");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::bad_workflow);
    EXPECT_NE(read.error().why.find("line 2, column 1"), std::string::npos) << read.error().why;
    EXPECT_FALSE(read.error().hint.empty());
}

}  // namespace
}  // namespace ballast::graph
