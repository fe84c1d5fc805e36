#include "ballast/runtime/tensor/accelerator_libraries.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace ballast::runtime {
namespace {

TEST(AcceleratorLibraries, AreNoneBesideALibtorchForTheProcessor) {
    const auto libraries = load_accelerator_libraries();
    EXPECT_TRUE(libraries.failures.empty());
    for (const auto& name : libraries.opened)
        EXPECT_NE(::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr) << name;
}

TEST(AcceleratorLibraries, ThatCannotBeOpenedAreReportedWithTheLoadersReason) {
    const ballast::testing::TemporaryFolder folder;
    const auto path = folder.path() / "libtorch_cuda.so";
    std::ofstream(path) << "no library";
    const auto libraries = load_accelerator_libraries(folder.path());
    EXPECT_TRUE(libraries.opened.empty());
    ASSERT_EQ(libraries.failures.size(), 1U);
    EXPECT_EQ(libraries.failures[0].code, Code::not_available);
    EXPECT_EQ(libraries.failures[0].place.file, path.string());
    EXPECT_FALSE(libraries.failures[0].why.empty());
    EXPECT_FALSE(libraries.failures[0].hint.empty());
}

}  // namespace
}  // namespace ballast::runtime
