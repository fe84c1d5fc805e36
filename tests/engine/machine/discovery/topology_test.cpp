#include "ballast/engine/machine/discovery/topology.hpp"

#include <gtest/gtest.h>

namespace ballast::machine {
namespace {

using namespace literals;

TEST(Topology, CountsWhatADescriptionHas) {
    const auto found = topology("node:2 l3:1(size=33554432) core:4 pu:2");
    ASSERT_TRUE(found);
    EXPECT_EQ(
        *found,
        (Topology{.cores = 8, .threads = 16, .numa_nodes = 2, .l3_caches = {32_MiB, 32_MiB}}));
    const auto small = topology("core:1 pu:1");
    ASSERT_TRUE(small);
    EXPECT_EQ(small->threads, 1);
    EXPECT_TRUE(small->l3_caches.empty());
}

TEST(Topology, ADescriptionThatMeansNothingFails) {
    for (const auto* text : {"nonsense", "core:-1", "pu:2 core:2"}) {
        const auto found = topology(text);
        ASSERT_FALSE(found) << text;
        EXPECT_EQ(found.error().code, Code::bad_value);
        EXPECT_EQ(found.error().place.key, text);
    }
}

TEST(Topology, ThisMachineHasAProcessor) {
    const auto found = topology();
    ASSERT_TRUE(found);
    EXPECT_GE(found->cores, 1);
    EXPECT_GE(found->threads, found->cores);
}

}  // namespace
}  // namespace ballast::machine
