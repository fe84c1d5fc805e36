#include "ballast/engine/formats/foreign.hpp"

#include <gtest/gtest.h>

namespace ballast::formats {
namespace {

using namespace std::string_view_literals;

struct Foreign {
    std::string_view what;
    std::string_view head;
    std::string_view mentioned;
};

class ForeignFiles : public ::testing::TestWithParam<Foreign> {};

TEST_P(ForeignFiles, AreNamedWithARemedy) {
    const auto& [what, head, mentioned] = GetParam();
    const auto error = recognise_foreign(head);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, Code::foreign_file);
    EXPECT_NE(error->why.find(mentioned), std::string::npos) << error->why;
    EXPECT_FALSE(error->hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, ForeignFiles,
    ::testing::Values(
        Foreign{"Empty", ""sv, "empty"},
        Foreign{"Pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123\n"sv,
                "pointer to the real file of 123 bytes"},
        Foreign{"OldPointer", "version https://hawser.github.com/spec/v1\n"sv, "pointer"},
        Foreign{"ZipPickle", "PK\x03\x04\x14\0\0\0archive/data.pkl"sv, "pickle checkpoint"},
        Foreign{"ZipOfNumPy", "PK\x03\x04\x14\0\0\0weight.npy"sv, "NumPy"},
        Foreign{"OtherZip", "PK\x03\x04\x14\0\0\0readme.md"sv, "zip archive, perhaps a pickle"},
        Foreign{"EmptyZip", "PK\x05\x06"sv, "zip archive"},
        Foreign{"Pickle", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M"sv, "raw pickle"},
        Foreign{"NewerPickle", "\x80\x05\x95\x10\0\0\0"sv, "raw pickle"},
        Foreign{"Html", "\n <!DOCTYPE HTML><html>"sv, "web page"},
        Foreign{"HtmlWithByteOrderMark", "\xef\xbb\xbf<html lang=en>"sv, "web page"},
        Foreign{"Xml", "<?xml version=\"1.0\"?><Error>"sv, "web page"},
        Foreign{"ShardIndex", "{\"metadata\":{},\"weight_map\":{}}"sv, "index"},
        Foreign{"Json", "{\"error\":\"not found\"}"sv, "JSON"},
        Foreign{"Message", "Entry not found\n"sv, "begins with 'Entry not found'"},
        Foreign{"NumPy", "\x93NUMPY\x01\0v\0"sv, "NumPy"},
        Foreign{"Hdf5", "\x89HDF\r\n\x1a\n\0"sv, "HDF5"},
        Foreign{"Gzip", "\x1f\x8b\x08\0"sv, "gzip"},
        Foreign{"Zstandard", "\x28\xb5\x2f\xfd\x24"sv, "Zstandard"},
        Foreign{"SevenZip", "7z\xbc\xaf\x27\x1c\0\x04"sv, "7-Zip"},
        Foreign{"Rar", "Rar!\x1a\x07\x01\0"sv, "RAR"},
        Foreign{"Png", "\x89PNG\r\n\x1a\n\0"sv, "picture"},
        Foreign{"Jpeg", "\xff\xd8\xff\xe0\0"sv, "picture"}),
    [](const auto& test) { return std::string(test.param.what); });

TEST(Foreign, KnowsTarArchivesByTheirInnerMark) {
    std::string head(512, '\0');
    head.replace(0, 7, "weights");
    head.replace(257, 5, "ustar");
    const auto error = recognise_foreign(head);
    ASSERT_TRUE(error.has_value());
    EXPECT_NE(error->why.find("tar archive"), std::string::npos);
}

TEST(Foreign, OtherWeightFormatsAreNotAvailableYet) {
    for (const auto head : {"GGUF\x03\0\0\0"sv, "tjgg\x01\0\0\0"sv}) {
        const auto error = recognise_foreign(head);
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, Code::unsupported);
        EXPECT_NE(error->why.find("not available yet"), std::string::npos);
        EXPECT_FALSE(error->hint.empty());
    }
}

TEST(Foreign, SaysNothingAboutWhatItDoesNotKnow) {
    EXPECT_FALSE(recognise_foreign("\x40\0\0\0\0\0\0\0{\"w\":"sv).has_value());
    EXPECT_FALSE(recognise_foreign("\x05\0\0"sv).has_value());
    EXPECT_FALSE(recognise_foreign("\xfe\xfe\xfe\xfe"sv).has_value());
    EXPECT_FALSE(recognise_foreign("\x80"sv).has_value());
}

TEST(Foreign, ShowsAnUnknownTextShortly) {
    const auto error = recognise_foreign(std::string(kHeadBytes - 1, 'x') + "\xc3");
    ASSERT_TRUE(error.has_value()) << "the last character is cut, but it is text";
    EXPECT_LT(error->why.size(), 100U);
}

}  // namespace
}  // namespace ballast::formats
