#include <gtest/gtest.h>
#include <sys/stat.h>

#include "ballast/engine/formats/safetensors.hpp"
#include "tests/support/allocation_watch.hpp"
#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::formats {
namespace {

using namespace std::string_view_literals;
using namespace std::string_literals;
using ballast::testing::AllocationWatch;
using ballast::testing::safetensors_with_header;
using ballast::testing::TemporaryFolder;

Error refusal_of(const std::filesystem::path& path) {
    const auto opened = open_tensors(path);
    EXPECT_FALSE(opened.has_value());
    if (opened) return {};
    EXPECT_EQ(opened.error().place.file, path.string());
    EXPECT_FALSE(opened.error().hint.empty()) << to_string(opened.error());
    return opened.error();
}

Error refusal_of_content(std::string_view content) {
    const TemporaryFolder folder;
    return refusal_of(folder.write("model.safetensors", content));
}

TEST(OpenTensors, ReadsWhatTheWriterWrote) {
    const TemporaryFolder folder;
    const auto path = folder / "model.bin";  // the name does not matter
    testing::write_safetensors(path,
                               {testing::stored_floats("a.weight", {2, 2}, {1, 2, 3, 4}),
                                testing::stored_pattern("a.bias", ElementType::bf16, {5}, 7)},
                               {{"format", "pt"}});
    const auto opened = open_tensors(path);
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    EXPECT_EQ(opened->path(), path);
    EXPECT_EQ(opened->format(), FileFormat::safetensors);
    EXPECT_EQ(opened->file_size().count(), std::filesystem::file_size(path));
    EXPECT_EQ(opened->metadata().at("format"), "pt");
    ASSERT_NE(opened->find("a.bias"), nullptr);
    EXPECT_EQ(opened->find("a.bias")->shape, (std::vector<std::int64_t>{5}));
    EXPECT_TRUE(opened->warnings().empty());
}

TEST(OpenTensors, SaysThatAFileDoesNotExist) {
    const TemporaryFolder folder;
    EXPECT_EQ(refusal_of(folder / "absent.safetensors").code, Code::not_found);
    folder.write("file", "x");
    EXPECT_EQ(refusal_of(folder / "file/inside").code, Code::not_found);
}

TEST(OpenTensors, DoesNotCutNamesAtAZeroByte) {
    const TemporaryFolder folder;
    folder.write("model", safetensors_with_header("{}", ""));
    EXPECT_EQ(open_tensors(folder.path() / "model\0.safetensors"s).error().code, Code::not_found);
}

TEST(OpenTensors, RefusesFolders) {
    const TemporaryFolder folder;
    const auto error = refusal_of(folder.path());
    EXPECT_EQ(error.code, Code::io);
    EXPECT_EQ(error.why, "it is a folder");
}

TEST(OpenTensors, DoesNotWaitForPipes) {
    const TemporaryFolder folder;
    const auto pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(refusal_of(pipe).why, "it is no regular file");
}

TEST(OpenTensors, ShortFilesAreTruncated) {
    EXPECT_EQ(refusal_of_content("\x40\0\0"sv).why.substr(0, 32),
              "truncated: 3 of 8 bytes present,");
    EXPECT_EQ(refusal_of_content("\x40\0\0\0\0\0\0\0"sv).why.substr(0, 33),
              "truncated: 8 of 72 bytes present,");
    const auto error = refusal_of_content("\x40\0\0\0\0\0\0\0{\"w\""sv);
    EXPECT_EQ(error.code, Code::corrupt_file);
    EXPECT_EQ(error.why.substr(0, 34), "truncated: 12 of 72 bytes present,");
}

TEST(OpenTensors, AFileCutInItsDataSaysHowMuchIsThere) {
    const auto whole =
        testing::safetensors_file({testing::stored_pattern("a", ElementType::f32, {100}),
                                   testing::stored_pattern("b", ElementType::f32, {100})});
    const auto error = refusal_of_content(whole.substr(0, whole.size() - 1));
    EXPECT_EQ(error.code, Code::corrupt_file);
    EXPECT_EQ(error.place.key, "b");
    EXPECT_EQ(error.why, "truncated: " + std::to_string(whole.size() - 1) + " of " +
                             std::to_string(whole.size()) + " bytes present");
}

TEST(OpenTensors, AFileOfZerosIsAnUnfinishedDownload) {
    const auto error = refusal_of_content(std::string(10'000, '\0'));
    EXPECT_EQ(error.code, Code::corrupt_file);
    EXPECT_NE(error.hint.find("download"), std::string::npos);
}

TEST(OpenTensors, ImpossibleLengthsAreNoSafetensors) {
    EXPECT_EQ(refusal_of_content("\xff\xff\xff\xff\xff\xff\xff\xff{}"sv).code, Code::foreign_file);
    // one more than 100 MB
    EXPECT_EQ(refusal_of_content("\x01\xe1\xf5\x05\0\0\0\0{}"sv).code, Code::foreign_file);
    EXPECT_EQ(refusal_of_content("\x02\0\0\0\0\0\0\0xy"sv).why,
              "its header does not begin with '{'");
}

TEST(OpenTensors, AHeaderBeyondTheLimitIsRefusedEvenIfItIsThere) {
    const TemporaryFolder folder;
    const auto path = folder.write("model", "\x01\xe1\xf5\x05\0\0\0\0{}"sv);
    std::filesystem::resize_file(path, 200'000'000);  // a sparse file: no disk is used
    const AllocationWatch watch;
    EXPECT_EQ(refusal_of(path).code, Code::foreign_file);
    EXPECT_LT(watch.peak(), 100'000U);
}

TEST(OpenTensors, LengthsThatLookLikeSignaturesAreLengths) {
    // 0x04034b50 bytes would be "PK\3\4", 0x0280 the beginning of a pickle
    const auto header = "{" + std::string(0x280 - 2, ' ') + "}";
    const TemporaryFolder folder;
    EXPECT_TRUE(open_tensors(folder.write("m", safetensors_with_header(header, ""))).has_value());
    EXPECT_EQ(refusal_of_content("PK\x03\x04\0\0\0\0{"sv).why.substr(0, 9), "truncated");
    EXPECT_NE(refusal_of_content("PK\x03\x04\0\0\0\0\0"sv).why.find("zip"), std::string::npos);
}

TEST(OpenTensors, DataNeedNotBeAligned) {
    const TemporaryFolder folder;
    const auto header = "{" + testing::header_member("t", "F64", {1}, 0, 8) + "}   ";
    const auto path = folder.write("m", safetensors_with_header(header, "12345678"));
    const auto opened = open_tensors(path);
    ASSERT_TRUE(opened.has_value());
    EXPECT_NE(opened->entries()[0].offset % 8, 0U);
}

TEST(OpenTensors, OptionsReachTheLayout) {
    const TemporaryFolder folder;
    const auto path = folder.write(
        "m",
        safetensors_with_header("{" + testing::header_member("t", "U8", {1}, 1, 2) + "}", "abc"));
    EXPECT_FALSE(open_tensors(path).has_value());
    EXPECT_EQ(open_tensors(path, {.accept_gaps = true})->warnings().size(), 2U);
    EXPECT_FALSE(open_tensors(path, {.accept_gaps = true, .strict = true}).has_value());
}

}  // namespace
}  // namespace ballast::formats
