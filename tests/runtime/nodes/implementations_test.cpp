#include "ballast/runtime/nodes/implementation.hpp"

#include <gtest/gtest.h>

#include "ballast/graph/node_catalogue.hpp"

namespace ballast::runtime::nodes {
namespace {

TEST(NodeImplementations, ExistForEveryDeclaredClass) {
    const auto catalogue = graph::standard_catalogue();
    for (const auto& declaration : catalogue.all())
        EXPECT_NE(find_implementation(declaration.class_type), nullptr) << declaration.class_type;
}

TEST(NodeImplementations, AreAllDeclared) {
    const auto catalogue = graph::standard_catalogue();
    std::size_t count = 0;
    for (const auto& table : all_implementations())
        for (const auto& row : table) {
            EXPECT_NE(catalogue.find(row.class_type), nullptr) << row.class_type;
            ++count;
        }
    EXPECT_EQ(count, catalogue.all().size());
}

}  // namespace
}  // namespace ballast::runtime::nodes
