#include "ballast/runtime/nodes/implementation.hpp"

#include <gmock/gmock.h>

#include "ballast/graph/available.hpp"
#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/runtime/sampling/samplers/sampler.hpp"

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

TEST(PortedSamplers, AreThoseThatTheProgramNames) {
    std::vector<std::string_view> ported;
    for (const auto& row : sampling::samplers())
        if (row.run != nullptr) ported.push_back(row.name);
    EXPECT_THAT(graph::kPortedSamplers, ::testing::ElementsAreArray(ported));
}

}  // namespace
}  // namespace ballast::runtime::nodes
