#include "ballast/engine/formats/tensor_directory.hpp"

#include <gtest/gtest.h>

namespace ballast::formats {
namespace {

TensorDirectory directory_of(std::vector<TensorEntry> entries) {
    return {"model", FileFormat::safetensors, Bytes{100}, {}, std::move(entries), {}};
}

TEST(TensorDirectory, FindsEntriesByName) {
    const auto directory = directory_of({{.name = "b", .offset = 0, .bytes = Bytes{4}},
                                         {.name = "a", .offset = 4, .bytes = Bytes{8}}});
    ASSERT_NE(directory.find("a"), nullptr);
    EXPECT_EQ(directory.find("a")->offset, 4U);
    EXPECT_EQ(directory.find("c"), nullptr);
    EXPECT_EQ(directory.tensor_bytes(), Bytes{12});
    EXPECT_EQ(TensorDirectory().find("a"), nullptr);
}

TEST(TensorDirectory, ACopyFindsItsOwnEntries) {
    TensorDirectory copy;
    {
        const auto original = directory_of({{.name = "a"}});
        copy = original;
        EXPECT_NE(copy.find("a"), original.find("a"));
    }
    ASSERT_NE(copy.find("a"), nullptr);
    EXPECT_EQ(copy.find("a"), copy.entries().data());
}

TEST(TensorDirectory, CountsElements) {
    EXPECT_EQ((TensorEntry{.shape = {}}.elements()), 1);
    EXPECT_EQ((TensorEntry{.shape = {2, 3, 4}}.elements()), 24);
    EXPECT_EQ((TensorEntry{.shape = {2, 0}}.elements()), 0);
}

TEST(FileFormat, HasTheNamesOfTheCommandLine) {
    EXPECT_EQ(to_string(FileFormat::safetensors), "safetensors");
    EXPECT_EQ(to_string(FileFormat::gguf), "gguf");
    EXPECT_EQ(to_string(FileFormat::checkpoint), "checkpoint");
}

}  // namespace
}  // namespace ballast::formats
