// How the tensors of a file must lie beside each other.
#include "ballast/engine/formats/safetensors_layout.hpp"

#include <gtest/gtest.h>

namespace ballast::formats {
namespace {

struct Range {
    std::string_view name;
    std::uint64_t begin;
    std::uint64_t end;
};

constexpr std::uint64_t kDataBegin = 100;

Result<Layout> laid_out(std::initializer_list<Range> ranges, std::uint64_t data_bytes,
                        OpenOptions options = {}) {
    std::deque<DescribedTensor> tensors;
    for (const auto& [name, begin, end] : ranges)
        tensors.push_back({.name = name, .begin = begin, .end = end});
    return lay_out({.path = "model.safetensors",
                    .tensors = tensors,
                    .data_begin = kDataBegin,
                    .file_size = kDataBegin + data_bytes,
                    .options = options});
}

Error refusal(std::initializer_list<Range> ranges, std::uint64_t data_bytes,
              OpenOptions options = {}) {
    const auto layout = laid_out(ranges, data_bytes, options);
    EXPECT_FALSE(layout.has_value());
    if (layout) return {};
    EXPECT_EQ(layout.error().code, Code::corrupt_file);
    EXPECT_EQ(layout.error().place.file, "model.safetensors");
    EXPECT_FALSE(layout.error().hint.empty());
    return layout.error();
}

TEST(SafetensorsLayout, TensorsMayBeListedInAnyOrder) {
    const auto layout = laid_out({{"b", 8, 24}, {"c", 24, 25}, {"a", 0, 8}}, 25);
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(layout->order, (std::vector<std::uint32_t>{2, 0, 1}));
    EXPECT_TRUE(layout->warnings.empty());
}

TEST(SafetensorsLayout, EmptyTensorsShareTheirPlaceWithAnybody) {
    const auto layout = laid_out(
        {{"w", 0, 16}, {"first", 0, 0}, {"inside", 4, 4}, {"end", 16, 16}, {"too", 16, 16}}, 16);
    ASSERT_TRUE(layout.has_value()) << to_string(layout.error());
    EXPECT_EQ(layout->order, (std::vector<std::uint32_t>{1, 0, 2, 3, 4}));
    EXPECT_EQ(refusal({{"w", 0, 16}, {"out", 17, 17}}, 16).place.key, "out");
}

TEST(SafetensorsLayout, AnOverlapNamesBothTensors) {
    const auto error = refusal({{"a", 0, 16}, {"b", 8, 24}}, 24);
    EXPECT_EQ(error.why, "tensors 'a' and 'b' share the bytes 8 to 16 behind the header");
    EXPECT_EQ(error.place.offset, kDataBegin + 8);
    EXPECT_EQ(refusal({{"a", 0, 16}, {"b", 4, 8}}, 16).why,
              "tensors 'a' and 'b' share the bytes 4 to 8 behind the header");
    EXPECT_EQ(refusal({{"a", 0, 16}, {"b", 0, 16}}, 16).why,
              "tensors 'a' and 'b' share the bytes 0 to 16 behind the header");
    EXPECT_EQ(refusal({{"a", 0, 8}, {"b", 0, 8}}, 8, {.accept_gaps = true}).place.key, "b")
        << "no option allows that";
}

TEST(SafetensorsLayout, AGapIsRefusedWithItsPlace) {
    const auto error = refusal({{"a", 0, 8}, {"b", 16, 24}}, 24);
    EXPECT_EQ(error.why, "8 bytes at offset 108 belong to no tensor");
    EXPECT_EQ(error.place.offset, kDataBegin + 8);
    EXPECT_EQ(refusal({{"b", 16, 24}}, 24).why, "16 bytes at offset 100 belong to no tensor");
}

TEST(SafetensorsLayout, GapsMayBeAcceptedWithOneWarning) {
    const auto layout =
        laid_out({{"a", 0, 8}, {"b", 16, 24}, {"c", 28, 30}}, 30, {.accept_gaps = true});
    ASSERT_TRUE(layout.has_value());
    ASSERT_EQ(layout->warnings.size(), 1U);
    EXPECT_EQ(layout->warnings[0],
              "12 bytes in 2 places belong to no tensor, the first 8 at offset 108");
}

TEST(SafetensorsLayout, TrailingBytesGiveOneWarningOrAreRefused) {
    const auto layout = laid_out({{"a", 0, 8}}, 72);
    ASSERT_TRUE(layout.has_value());
    ASSERT_EQ(layout->warnings.size(), 1U);
    EXPECT_EQ(layout->warnings[0], "64 bytes follow the last tensor and belong to none");
    const auto error = refusal({{"a", 0, 8}}, 72, {.strict = true});
    EXPECT_EQ(error.why, "64 bytes follow the last tensor and belong to none");
    EXPECT_EQ(error.place.offset, kDataBegin + 8);
    EXPECT_EQ(laid_out({}, 5)->warnings.size(), 1U);
}

TEST(SafetensorsLayout, ATruncatedFileSaysHowMuchIsThere) {
    const auto error = refusal({{"a", 0, 8}, {"b", 8, 24}, {"c", 24, 1000}}, 12);
    EXPECT_EQ(error.why, "truncated: 112 of 1100 bytes present");
    EXPECT_EQ(error.place.key, "b") << "the first that is not wholly there";
    EXPECT_EQ(error.place.offset, kDataBegin + 12);
}

TEST(SafetensorsLayout, EndsNearTheLargestNumberDoNotWrap) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(refusal({{"a", 0, 8}, {"b", kMost - 8, kMost}}, 8).place.key, "b");
    EXPECT_EQ(refusal({{"b", kMost, kMost}}, 8).place.key, "b");
    EXPECT_EQ(refusal({{"a", 0, kMost}}, 8).place.key, "a");
    EXPECT_EQ(refusal({{"a", 0, kMost - kDataBegin}}, 8).why,
              "truncated: 108 of 18446744073709551615 bytes present");
}

}  // namespace
}  // namespace ballast::formats
