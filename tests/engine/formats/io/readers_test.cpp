// The behaviour of every reader.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <thread>
#include <vector>

#include "ballast/engine/formats/io/reader.hpp"
#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::formats {
namespace {

using ballast::testing::TemporaryFolder;

constexpr std::size_t kSize = 100'003;  // no multiple of a page

std::string pattern() { return testing::stored_pattern("", ElementType::u8, {kSize}, 42).bytes; }

class Readers : public ::testing::TestWithParam<ReaderKind> {
protected:
    [[nodiscard]] std::shared_ptr<const Reader> open(const std::filesystem::path& path) const {
        auto reader = open_reader(path, GetParam());
        if (!reader) throw std::runtime_error(to_string(reader.error()));
        return *std::move(reader);
    }
    [[nodiscard]] Error refusal_of(const std::filesystem::path& path) const {
        const auto reader = open_reader(path, GetParam());
        EXPECT_FALSE(reader.has_value());
        if (reader) return {};
        EXPECT_EQ(reader.error().place.file, path.string());
        return reader.error();
    }

    TemporaryFolder folder_;
    std::string content_ = pattern();
    std::filesystem::path path_ = folder_.write("file", content_);
};

std::string read(const Reader& reader, std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '?');
    const auto done = reader.read(offset, std::as_writable_bytes(std::span(bytes)));
    return done ? bytes : to_string(done.error());
}

TEST_P(Readers, GiveTheBytesOfTheFile) {
    const auto reader = open(path_);
    EXPECT_EQ(read(*reader, 0, kSize), content_);
}

TEST_P(Readers, ReadAnyRange) {
    const auto reader = open(path_);
    for (const std::size_t offset : {0UL, 1UL, 4095UL, 4096UL, 4097UL, 99'999UL, kSize - 1})
        for (const std::size_t size : {0UL, 1UL, 7UL, 4096UL, 5000UL})
            if (offset + size <= kSize) {
                EXPECT_EQ(read(*reader, offset, size), content_.substr(offset, size))
                    << offset << "+" << size;
            }
}

TEST_P(Readers, ReadNothingAtTheEnd) {
    EXPECT_EQ(read(*open(path_), kSize, 0), "");
    EXPECT_EQ(read(*open(folder_.write("empty", "")), 0, 0), "");
}

TEST_P(Readers, RefuseToReadPastTheEnd) {
    const auto reader = open(path_);
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    std::array<std::byte, 8> buffer{};
    for (const std::uint64_t offset :
         {std::uint64_t{kSize - 7}, std::uint64_t{kSize}, std::uint64_t{kSize} + 1,
          std::uint64_t{1} << 63U, kMost - 7, kMost}) {
        const auto done = reader->read(offset, buffer);
        ASSERT_FALSE(done.has_value()) << offset;
        EXPECT_EQ(done.error().code, Code::corrupt_file);
        EXPECT_EQ(done.error().place.file, path_.string());
        EXPECT_EQ(done.error().place.offset, offset);
        EXPECT_FALSE(done.error().hint.empty());
    }
    EXPECT_FALSE(reader->read(kSize + 1, {}).has_value());
}

TEST_P(Readers, NoticeAFileThatWasCutAfterOpening) {
    const auto reader = open(path_);
    std::filesystem::resize_file(path_, 10'000);
    EXPECT_EQ(read(*reader, 0, 10'000), content_.substr(0, 10'000));
    std::array<std::byte, 100> buffer{};
    const auto done = reader->read(9'950, buffer);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::corrupt_file);
    EXPECT_NE(done.error().why.find("10000"), std::string::npos) << done.error().why;
}

TEST_P(Readers, KeepAFileThatWasDeletedOrReplaced) {
    const auto reader = open(path_);
    std::filesystem::remove(path_);
    folder_.write("file", "other");
    EXPECT_EQ(read(*reader, 0, kSize), content_);
}

TEST_P(Readers, ServeSeveralThreadsAtOnce) {
    const auto reader = open(path_);
    std::vector<int> faults(4, 0);
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (std::size_t t = 0; t < faults.size(); ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = 0; i < 200; ++i) {
                    const auto offset = (i * 7919 + t * 104'729) % (kSize - 5000);
                    if (read(*reader, offset, 5000) != content_.substr(offset, 5000)) ++faults[t];
                }
            });
    }
    EXPECT_EQ(faults, std::vector<int>(4, 0));
}

TEST_P(Readers, RefuseWhatIsNoFile) {
    EXPECT_EQ(refusal_of(folder_ / "absent").code, Code::not_found);
    EXPECT_EQ(refusal_of(folder_.path()).code, Code::io);
}

TEST_P(Readers, RefuseAFileThatMayNotBeRead) {
    std::filesystem::permissions(path_, std::filesystem::perms::none);
    const auto user = ::geteuid();
    // the superuser may read everything: be nobody for a moment
    ASSERT_TRUE(user != 0 || ::seteuid(65534) == 0);
    const auto reader = open_reader(path_, GetParam());
    ASSERT_TRUE(user != 0 || ::seteuid(user) == 0);
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().code, Code::io);
    EXPECT_FALSE(reader.error().hint.empty());
}

TEST_P(Readers, SayWhenTooManyFilesAreOpen) {
    rlimit former{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &former), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = former.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto reader = open_reader(path_, GetParam());
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &former), 0);
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().code, Code::io);
    EXPECT_NE(reader.error().hint.find("ulimit"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Readers, ::testing::Values(ReaderKind::positioned, ReaderKind::map),
                         [](const auto& test) { return std::string(to_string(test.param)); });

}  // namespace
}  // namespace ballast::formats
