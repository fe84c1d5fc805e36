#include "ballast/graph/python_text.hpp"

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

TEST(PythonText, WritesValuesAsPythonPrintsThem) {
    EXPECT_EQ(python_str("it's"), "it's");
    EXPECT_EQ(python_str(nullptr), "None");
    EXPECT_EQ(python_str(true), "True");
    EXPECT_EQ(python_str(12), "12");
    EXPECT_EQ(python_str(16.0), "16.0");
    EXPECT_EQ(python_str(1e-5), "1e-05");
    EXPECT_EQ(python_str(1e22), "1e+22");
    EXPECT_EQ(python_str(testing::json(R"({"a":1,"b":["x",null,false]})")),
              "{'a': 1, 'b': ['x', None, False]}");
}

TEST(PythonText, QuotesAsPythonDoes) {
    EXPECT_EQ(python_repr("a"), "'a'");
    EXPECT_EQ(python_repr("it's"), "\"it's\"");
    EXPECT_EQ(python_repr("it's \"it\""), "'it\\'s \"it\"'");
    EXPECT_EQ(python_repr("a\nb\\\t\x01"), "'a\\nb\\\\\\t\\x01'");
}

TEST(PythonText, WritesLists) {
    EXPECT_EQ(python_list({}), "[]");
    EXPECT_EQ(python_list(std::vector<std::string>{"euler", "heun"}), "['euler', 'heun']");
}

}  // namespace
}  // namespace ballast::graph
