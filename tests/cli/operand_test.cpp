#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace ballast::testing {
namespace {

TEST(Operand, IsAskedForWhereACommandNeedsOne) {
    for (const std::string command : {"run", "inspect"})
        for (const auto& words : {std::vector<std::string>{command}, {command, ""}}) {
            const auto outcome = run_program(words);
            EXPECT_EQ(outcome.status, 2) << command;
            EXPECT_NE(outcome.err.find("an argument is missing"), std::string::npos) << outcome.err;
        }
}

TEST(Operand, MayBeLeftOutWhereItIsOptional) {
    EXPECT_EQ(run_program({"help"}).status, 0);
    EXPECT_EQ(run_program({"run", "--help"}).status, 0);
}

TEST(Inspect, AnswersAnyFileWithOneDocument) {
    for (const auto& file : std::filesystem::directory_iterator(in_repository("tests/cases"))) {
        const auto outcome = run_program({"inspect", file.path().string(), "--json"});
        EXPECT_TRUE(outcome.status == 0 || outcome.status == 3)
            << file.path() << ": " << outcome.status << outcome.err;
        EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << file.path();
    }
}

}  // namespace
}  // namespace ballast::testing
