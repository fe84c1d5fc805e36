#include <gtest/gtest.h>

#include <algorithm>

#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::formats {
namespace {

struct Case {
    std::string file;
    std::optional<Code> refusal;
    std::size_t warnings = 0;
    std::vector<std::string> mentioned;
};

class SafetensorsCases : public testing::TestWithParam<Case> {};

TEST_P(SafetensorsCases, AreJudgedRightly) {
    const auto& expected = GetParam();
    const auto opened = open_tensors(std::string(BALLAST_TEST_DATA "/cases/") + expected.file);
    ASSERT_EQ(opened.has_value(), !expected.refusal);
    std::string said;
    if (opened) {
        EXPECT_EQ(opened->warnings().size(), expected.warnings);
        for (const auto& warning : opened->warnings()) said += warning;
    } else {
        EXPECT_EQ(opened.error().code, *expected.refusal) << to_string(opened.error());
        EXPECT_FALSE(opened.error().hint.empty());
        said = to_string(opened.error());
    }
    for (const auto& word : expected.mentioned)
        EXPECT_NE(said.find(word), std::string::npos) << "'" << word << "' not in: " << said;
    EXPECT_TRUE(std::none_of(said.begin(), said.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20;
    })) << "control characters reach the terminal";
}

constexpr auto kCorrupt = Code::corrupt_file;
constexpr auto kForeign = Code::foreign_file;

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsCases,
    testing::Values(Case{"st-01-ok-empty-metadata.safetensors", {}, 0, {}},
                    Case{"st-02-ok-zero-size-marker.safetensors", {}, 0, {}},
                    Case{"st-03-ok-unpadded-header.safetensors", {}, 0, {}},
                    Case{"st-05-trailing-bytes.safetensors", {}, 1, {"64"}},
                    Case{"st-07-overlap.safetensors", kCorrupt, 0, {"'a'", "'b'"}},
                    Case{"st-08-gap.safetensors", kCorrupt, 0, {"8"}},
                    Case{"st-09-shape-larger-than-bytes.safetensors", kCorrupt, 0, {"t"}},
                    Case{"st-11-unknown-dtype-out-of-range.safetensors", kCorrupt, 0, {"t"}},
                    Case{"st-13-negative-and-reversed.safetensors", kCorrupt, 0, {"a"}},
                    Case{"st-15-header-length-huge.safetensors", kForeign, 0, {}},
                    Case{"st-16-header-longer-than-file.safetensors", kCorrupt, 0, {"truncated"}},
                    Case{"st-18-empty-file.safetensors", kForeign, 0, {"empty"}},
                    Case{"st-20-lfs-pointer.safetensors", kForeign, 0, {"pointer"}},
                    Case{"st-22-zip-checkpoint.safetensors", kForeign, 0, {"pickle"}},
                    Case{"st-24-control-characters-in-name.safetensors", kCorrupt, 0, {}},
                    Case{"st-25-deep-json.safetensors", kCorrupt, 0, {}},
                    Case{
                        "gguf-01-ok-offset-zero.gguf", Code::unsupported, 0, {"not available yet"}},
                    Case{"gguf-18-lfs-pointer.gguf", kForeign, 0, {"pointer"}}),
    [](const auto& test) {
        auto name = test.param.file.substr(0, test.param.file.find('.'));
        std::erase(name, '-');
        return name;
    });

}  // namespace
}  // namespace ballast::formats
