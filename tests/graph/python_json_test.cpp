#include "ballast/graph/python_json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ballast::graph {
namespace {

TEST(PythonJson, KeepsOrderAndUsesPythonsSeparators) {
    Json value = Json::object();
    value["b"] = Json::array({1, true, nullptr, "x"});
    value["a"] = Json::object();
    value["c"] = Json::array();
    EXPECT_EQ(python_json(value), "{\"b\": [1, true, null, \"x\"], \"a\": {}, \"c\": []}");
}

TEST(PythonJson, EscapesEverythingOutsideAscii) {
    EXPECT_EQ(python_json("caf\u00E9 \u4F60 \U0001F600"), "\"caf\\u00e9 \\u4f60 \\ud83d\\ude00\"");
    EXPECT_EQ(python_json("a\"b\\c/\b\f\n\r\t\x01\x7F"),
              "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\x7F\"");
    EXPECT_EQ(python_json("\xFF\xC3(\xED\xA0\x80"), "\"\\ufffd\\ufffd(\\ufffd\\ufffd\\ufffd\"");
}

TEST(PythonJson, WritesNumbersAsPythonDoes) {
    EXPECT_EQ(python_json(12345678901234567890ULL), "12345678901234567890");
    EXPECT_EQ(python_json(-3), "-3");
    EXPECT_EQ(python_json(1.0), "1.0");
    EXPECT_EQ(python_json(-0.0), "-0.0");
    EXPECT_EQ(python_json(0.1), "0.1");
    EXPECT_EQ(python_json(1.2100000000000002), "1.2100000000000002");
    EXPECT_EQ(python_json(0.0001), "0.0001");
    EXPECT_EQ(python_json(0.00001), "1e-05");
    EXPECT_EQ(python_json(1.5e-7), "1.5e-07");
    EXPECT_EQ(python_json(1e15), "1000000000000000.0");
    EXPECT_EQ(python_json(1e16), "1e+16");
    EXPECT_EQ(python_json(1.5e300), "1.5e+300");
    EXPECT_EQ(python_json(5e-324), "5e-324");
    EXPECT_EQ(python_json(9007199254740993.0), "9007199254740992.0");
    EXPECT_EQ(python_json(std::numeric_limits<double>::infinity()), "Infinity");
    EXPECT_EQ(python_json(-std::numeric_limits<double>::infinity()), "-Infinity");
    EXPECT_EQ(python_json(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

}  // namespace
}  // namespace ballast::graph
