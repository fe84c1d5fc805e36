// The border between program and runtime library, when they do not belong together.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "ballast/graph/runtime.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

TEST(RuntimeLibrary, TouchesNothingOfAProgramWithAnotherInterface) {
    const auto library = std::filesystem::path(BALLAST_PROGRAM).parent_path().parent_path() /
                         "lib/libballast_runtime.so";
    void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << ::dlerror();
    const auto entry =
        reinterpret_cast<graph::RuntimeEntry>(::dlsym(handle, graph::kRuntimeEntryName));
    ASSERT_NE(entry, nullptr);
    // what stands there has the other program's layout: nothing of it may be read or written
    alignas(graph::RuntimeOptions) std::array<unsigned char, sizeof(graph::RuntimeOptions)>
        options{};
    alignas(Error) std::array<unsigned char, sizeof(Error)> error{};
    options.fill(0xA5);
    error.fill(0xA5);
    EXPECT_EQ(entry(graph::kRuntimeInterface + 1,
                    *reinterpret_cast<const graph::RuntimeOptions*>(options.data()),
                    reinterpret_cast<Error*>(error.data())),
              nullptr);
    for (const auto byte : error) ASSERT_EQ(byte, 0xA5);
}

TEST(RuntimeLibrary, OfAnotherVersionIsNamedAsSuch) {
    const TemporaryFolder folder;
    const auto source = folder.write(
        "other.c", "void* ballast_open_runtime(unsigned n, void* o, void* e) { return 0; }\n");
    const auto library = folder / "libother.so";
    const auto build = "cc -w -shared -fPIC -o " + library.string() + " " + source.string();
    if (std::system(build.c_str()) != 0) GTEST_SKIP() << "no C compiler";
    const auto outcome = run_program(demo(folder / "out", {"--runtime-library", library.string()}));
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    for (const auto* part : {"libother.so", "another version", "interface", "same build"})
        EXPECT_NE(outcome.err.find(part), std::string::npos) << part << '\n' << outcome.err;
}

TEST(RuntimeLibrary, ThatIsNoneIsNamedOnce) {
    const TemporaryFolder folder;
    const auto library = folder.write("text.so", "no library at all").string();
    const auto outcome = run_program(demo(folder / "out", {"--runtime-library", library}));
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    const auto first = outcome.err.find(library);
    ASSERT_NE(first, std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(library, first + 1), std::string::npos) << outcome.err;
}

TEST(RuntimeLibrary, ThatTheAddressSpaceCannotHoldIsToldAsSuch) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers map terabytes";
#endif
    const TemporaryFolder folder;
    const auto outcome = run_program(demo(folder / "out"), {.most_address_space = 300UL << 20U});
    EXPECT_EQ(outcome.status, 5) << outcome.err;
    EXPECT_NE(outcome.err.find("ulimit -v"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace ballast::testing
