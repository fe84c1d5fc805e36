#include "ballast/engine/core/system_error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace ballast {
namespace {

TEST(SystemError, TellsMissingFilesFromRefusals) {
    EXPECT_EQ(system_error("f", "cannot open", ENOENT).code, Code::not_found);
    EXPECT_EQ(system_error("f", "cannot open", ENOTDIR).code, Code::not_found);
    const auto denied = system_error("f", "cannot open", EACCES);
    EXPECT_EQ(denied.code, Code::io);
    EXPECT_EQ(denied.place.file, "f");
    EXPECT_FALSE(denied.hint.empty());
    const auto broken = system_error("f", "cannot read", EIO);
    EXPECT_EQ(broken.code, Code::io);
    EXPECT_NE(broken.hint.find("disk"), std::string::npos);
    const auto folder = system_error("f", "cannot read", EISDIR);
    EXPECT_EQ(folder.why, "it is a folder");
    EXPECT_FALSE(folder.hint.empty());
}

}  // namespace
}  // namespace ballast
