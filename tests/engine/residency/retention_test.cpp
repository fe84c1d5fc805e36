#include "ballast/engine/residency/retention.hpp"

#include <gtest/gtest.h>

namespace ballast::residency {
namespace {

TEST(Retention, HasAWordForEachValueAndReadsItBack) {
    EXPECT_EQ(to_string(Retention::keep), "keep");
    EXPECT_EQ(to_string(Retention::release), "release");
    EXPECT_EQ(parse_retention("keep"), Retention::keep);
    EXPECT_EQ(parse_retention("release"), Retention::release);
}

TEST(Retention, KnowsNoOtherWords) {
    for (const auto* text : {"", "Keep", "keep ", "kept", "unload", "true"})
        EXPECT_EQ(parse_retention(text), std::nullopt) << text;
}

TEST(Retention, IsReleaseUnlessSomebodySaysSo) {
    EXPECT_EQ(RetentionFlag{}.value, Retention::release);
    EXPECT_FALSE(RetentionFlag{}.is_said);
}

TEST(Retention, AKeptModelIsRetainedWhoeverSaidIt) {
    EXPECT_EQ(standing_of({.value = Retention::keep, .is_said = true}), Standing::retained);
    EXPECT_EQ(standing_of({.value = Retention::keep, .is_said = false}), Standing::retained);
}

TEST(Retention, OnlyWhatTheUserGaveUpGoesBeforeTheOthers) {
    EXPECT_EQ(standing_of({.value = Retention::release, .is_said = true}), Standing::flagged);
    EXPECT_EQ(standing_of({.value = Retention::release, .is_said = false}), Standing::ordinary);
    EXPECT_LT(Standing::flagged, Standing::ordinary);
    EXPECT_LT(Standing::ordinary, Standing::retained);
}

}  // namespace
}  // namespace ballast::residency
