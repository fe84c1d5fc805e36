#include "ballast/graph/near_names.hpp"

#include <gtest/gtest.h>

namespace ballast::graph {
namespace {

using Names = std::vector<std::string>;

TEST(NearNames, PutsFewestEditsFirst) {
    const Names samplers{"euler", "euler_ancestral", "heun", "dpmpp_2m", "dpmpp_2m_sde", "ddim"};
    EXPECT_EQ(near_names("dpmpp_2n", samplers).at(0), "dpmpp_2m");
    EXPECT_EQ(near_names("eular", samplers).at(0), "euler");
    EXPECT_EQ(near_names("EULER", samplers).at(0), "euler");
}

TEST(NearNames, SeeThroughSlashesAndParts) {
    EXPECT_EQ(near_names("more\\c.safetensors", Names{"a.ckpt", "more/c.safetensors"}),
              Names{"more/c.safetensors"});
    EXPECT_EQ(near_names("v1-5-pruned.safetensors", Names{"sd/v1-5-pruned.safetensors", "x.ckpt"}),
              Names{"sd/v1-5-pruned.safetensors"});
}

TEST(NearNames, AreFewAndNeverFarFetched) {
    EXPECT_EQ(near_names("euler", Names{"abcde", "z"}), Names{});
    EXPECT_EQ(near_names("", Names{"a"}), Names{});
    EXPECT_EQ(near_names("name1", Names{"name2", "name3", "name4", "name5"}).size(), 3U);
}

TEST(NearNames, CopeWithVeryLongNames) {
    const std::string name(1000000, 'a');
    EXPECT_EQ(near_names(name, Names{name + "b"}).size(), 1U);
}

TEST(Joined, PutsSeparatorsBetween) {
    EXPECT_EQ(joined(Names{}), "");
    EXPECT_EQ(joined(Names{"a", "b"}), "a, b");
}

}  // namespace
}  // namespace ballast::graph
