#include "ballast/engine/machine/discovery/control_group.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

using namespace literals;

/// A /proc and a /sys with control groups.
class ControlGroup : public ::testing::Test {
protected:
    void membership(std::string_view lines) { folder_.write("proc/self/cgroup", lines); }
    /// `file` below sys/fs/cgroup.
    void group(const std::string& file, std::string_view content) {
        folder_.write("sys/fs/cgroup/" + file, content);
    }
    std::optional<ControlGroupLimit> find(std::optional<Bytes> total = 64_GiB) {
        return control_group_limit(folder_ / "proc", folder_ / "sys", total);
    }
    std::optional<Bytes> limit(std::optional<Bytes> total = 64_GiB) {
        const auto found = find(total);
        return found ? std::optional(found->limit) : std::nullopt;
    }

    ballast::testing::TemporaryFolder folder_;
};

TEST_F(ControlGroup, Version2GivesLimitAndUseWithoutFilePagesThatCanBeDropped) {
    membership("0::/box\n");
    group("box/memory.max", "8589934592\n");
    group("box/memory.current", "3221225472\n");
    group("box/memory.stat", "anon 5\nactive_file 7\ninactive_file 1073741824\nslab 3\n");
    const auto found = find();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->limit, 8_GiB);
    EXPECT_EQ(found->used, 2_GiB);
    EXPECT_TRUE(found->group.string().ends_with("cgroup/box"));
}

TEST_F(ControlGroup, TheTightestLimitUpToTheRootWinsWithTheUseOfItsGroup) {
    membership("0::/a/b/c\n");
    group("memory.max", "max\n");
    group("a/memory.max", "4294967296\n");
    group("a/memory.current", "1000\n");
    group("a/b/memory.max", "8589934592\n");
    group("a/b/c/memory.max", "max\n");
    group("a/b/c/memory.current", "1\n");
    const auto found = find();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->limit, 4_GiB);
    EXPECT_EQ(found->used, 1000_B);
}

TEST_F(ControlGroup, OfEqualLimitsTheOuterOneCountsSinceItsUseIsGreater) {
    membership("0::/a/b\n");
    group("a/memory.max", "4096\n");
    group("a/memory.current", "4000\n");
    group("a/b/memory.max", "4096\n");
    group("a/b/memory.current", "10\n");
    EXPECT_EQ(find()->used, 4000_B);
}

TEST_F(ControlGroup, Version1HasOtherNames) {
    membership("9:name=systemd:/\n4:cpu,memory:/docker/1f\n1:cpu:/elsewhere\n");
    group("memory/docker/1f/memory.limit_in_bytes", "2147483648\n");
    group("memory/docker/1f/memory.usage_in_bytes", "1073741824\n");
    group("memory/docker/1f/memory.stat", "inactive_file 1\ntotal_inactive_file 73741824\n");
    group("memory/elsewhere/memory.limit_in_bytes", "5\n");
    const auto found = find();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->limit, 2_GiB);
    EXPECT_EQ(found->used, 1000000000_B);
}

TEST_F(ControlGroup, InAContainerWhoseGroupIsTheRootOnlyTheRootIsVisible) {
    membership("4:memory:/docker/of-the-host\n0::/docker/of-the-host\n");
    group("memory/memory.limit_in_bytes", "2147483648\n");
    EXPECT_EQ(limit(), 2_GiB);
}

TEST_F(ControlGroup, InAHybridSystemBothVersionsCount) {
    membership("4:memory:/one\n0::/two\n");
    group("memory/one/memory.limit_in_bytes", "4294967296\n");
    EXPECT_EQ(limit(), 4_GiB);
    group("unified/two/memory.max", "2147483648\n");
    EXPECT_EQ(limit(), 2_GiB);
    group("memory/one/memory.limit_in_bytes", "1073741824\n");
    EXPECT_EQ(limit(), 1_GiB);
}

TEST_F(ControlGroup, NoLimitIsWrittenInManyWays) {
    membership("0::/box\n4:memory:/box\n");
    EXPECT_EQ(limit(), std::nullopt);
    for (const auto* text : {"max\n", "-1\n", "", "\n", "many", "4611686018427387904",
                             "9223372036854771712\n", "99999999999999999999999999", "12 34"}) {
        group("box/memory.max", text);
        group("memory/box/memory.limit_in_bytes", text);
        EXPECT_EQ(limit(), std::nullopt) << text;
    }
}

TEST_F(ControlGroup, ALimitOfTheWholeMemoryIsNone) {
    membership("0::/box\n");
    group("box/memory.max", "8589934592\n");
    EXPECT_EQ(limit(8_GiB), std::nullopt);
    EXPECT_EQ(limit(9_GiB), 8_GiB);
    EXPECT_EQ(limit(std::nullopt), 8_GiB);
}

TEST_F(ControlGroup, APathOutOfTheNamespaceStaysAtTheRoot) {
    folder_.write("sys/fs/memory.max", "1\n");
    folder_.write("memory.max", "1\n");
    membership("0::/../../../a/../..\n");
    EXPECT_EQ(limit(), std::nullopt);
    group("memory.max", "4096\n");
    EXPECT_EQ(limit(), 4_KiB);
}

TEST_F(ControlGroup, UseIsUnknownOrNotReducedWhereFilesAreMissing) {
    membership("0::/box\n");
    group("box/memory.max", "4096\n");
    EXPECT_EQ(find()->used, std::nullopt);
    group("box/memory.current", "100\n");
    EXPECT_EQ(find()->used, 100_B);
    group("box/memory.stat", "inactive_file 500\n");
    EXPECT_EQ(find()->used, 0_B);
    group("box/memory.stat", "inactive_file -500\nnonsense\n");
    EXPECT_EQ(find()->used, 100_B);
}

TEST_F(ControlGroup, StrangeListsOfGroupsFindNothing) {
    EXPECT_EQ(find(), std::nullopt) << "no file at all";
    const std::string long_path(100000, 'x');
    std::string deep;
    for (int i = 0; i < 2000; ++i) deep += "/d";
    for (const auto& text : {std::string(), std::string("0"), std::string("0:"), std::string(":::"),
                             std::string("\n\n::\n"), "0::/" + long_path, "0::" + deep,
                             std::string(5000, '\0'), std::string("0::/a\0b\n", 8)}) {
        membership(text);
        EXPECT_EQ(find(), std::nullopt);
    }
}

}  // namespace
}  // namespace ballast::machine
