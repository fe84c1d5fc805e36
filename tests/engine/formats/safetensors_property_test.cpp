// Properties over generated files: what is written is read, and no damage to a header makes the
// reader crash, hang or allocate out of proportion.
#include <gtest/gtest.h>

#include <algorithm>

#include "ballast/engine/formats/safetensors.hpp"
#include "tests/support/allocation_watch.hpp"
#include "tests/support/directory_check.hpp"
#include "tests/support/random.hpp"
#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::formats {
namespace {

using ballast::testing::AllocationWatch;
using ballast::testing::Metadata;
using ballast::testing::Random;
using ballast::testing::StoredTensor;

const std::vector<ElementType> kTypes{ElementType::boolean, ElementType::f4,  ElementType::f6_e2m3,
                                      ElementType::f8_e4m3, ElementType::f16, ElementType::bf16,
                                      ElementType::f32,     ElementType::i64};

std::string random_name(Random& random) {
    const auto separator = random.one_of<std::string>({".", "_", "\"", "\\", "\xc3\xa9", " ", "/"});
    return random.text(random.between(1, 30), "abcdefghijklmnop.0123456789") + separator +
           std::to_string(random.bits());
}

StoredTensor random_tensor(Random& random) {
    const auto type = random.one_of(kTypes);
    std::vector<std::int64_t> shape;
    for (auto axes = random.below(5); axes > 0; --axes)
        shape.push_back(static_cast<std::int64_t>(random.once_in(10) ? 0 : random.between(1, 6)));
    if (bits(type) < 8) shape.push_back(4);  // whole bytes
    return testing::stored_pattern(random_name(random), type, std::move(shape), random.bits());
}

struct Written {
    std::vector<StoredTensor> tensors;
    Metadata metadata;
};

Written random_content(Random& random) {
    Written content;
    for (auto count = random.below(20); count > 0; --count)
        content.tensors.push_back(random_tensor(random));
    for (auto count = random.below(4); count > 0; --count)
        content.metadata[random_name(random)] = random.text(random.below(50), "a\n\t\"\\ {}");
    return content;
}

TEST(SafetensorsProperties, WhatIsWrittenIsRead) {
    const testing::TemporaryFolder folder;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        const auto content = random_content(random);
        const auto path = folder / "model.safetensors";
        testing::write_safetensors(path, content.tensors, content.metadata);
        const auto bytes = testing::content_of(path);
        const auto opened = open_tensors(path, {.strict = true});
        ASSERT_TRUE(opened.has_value()) << "seed " << seed << ": " << to_string(opened.error());
        EXPECT_EQ(opened->metadata(), content.metadata);
        ASSERT_EQ(opened->entries().size(), content.tensors.size());
        EXPECT_TRUE(
            std::is_sorted(opened->entries().begin(), opened->entries().end(),
                           [](const auto& a, const auto& b) { return a.offset < b.offset; }));
        for (const auto& written : content.tensors) {
            const auto* read = opened->find(written.name);
            ASSERT_NE(read, nullptr) << written.name;
            EXPECT_EQ(read->type, written.type);
            EXPECT_EQ(read->shape, written.shape);
            EXPECT_EQ(bytes.substr(read->offset, read->bytes.count()), written.bytes);
        }
    }
}

/// One random change of the kinds that damage, malice and bugs make.
void mutate(std::string& header, Random& random) {
    if (header.empty()) return;
    const auto at = random.below(header.size());
    switch (random.below(7)) {
        case 0: header[at] = static_cast<char>(random.below(256)); break;
        case 1:
            header[at] = random.one_of<char>({'{', '}', '[', ']', '"', '\\', ',', ':', '-'});
            break;
        case 2: header.erase(at, random.between(1, 8)); break;
        case 3: header.insert(at, random.text(random.between(1, 8), "{}[]\",:0129eEu\\.- ")); break;
        case 4: header.insert(at, header.substr(random.below(header.size()), 60)); break;
        case 5: header.resize(at); break;
        default: {  // another number
            const auto digit = header.find_first_of("0123456789", at);
            if (digit == std::string::npos) break;
            header.replace(digit, 1, std::to_string(random.bits() >> random.below(64)));
        }
    }
}

TEST(SafetensorsProperties, DamagedHeadersAreRefusedOrConsistent) {
    std::size_t accepted = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        Random random(seed);
        const auto content = random_content(random);
        const auto file = testing::safetensors_file(content.tensors, content.metadata);
        std::uint64_t length = 0;
        for (std::size_t i = 0; i < 8; ++i)
            length |= std::uint64_t{static_cast<unsigned char>(file[i])} << (8 * i);
        auto header = file.substr(8, length);
        for (auto changes = random.between(1, 4); changes > 0; --changes) mutate(header, random);

        const Bytes size{8 + header.size() + (file.size() - 8 - length)};
        const AllocationWatch watch;
        const auto opened = interpret_safetensors("m", header, size, {.accept_gaps = true});
        const auto largest = watch.largest();
        const auto peak = watch.peak();
        EXPECT_LE(peak, 10 * size.count() + 10'000) << "seed " << seed;
        if (!opened) {
            EXPECT_LE(largest, size.count() + 1000) << "seed " << seed;
            EXPECT_EQ(opened.error().code, Code::corrupt_file);
            EXPECT_FALSE(to_string(opened.error()).empty());
            continue;
        }
        ++accepted;
        EXPECT_EQ(testing::broken_rule(*opened), "") << "seed " << seed;
    }
    EXPECT_GT(accepted, 10U) << "some changes are harmless: the test must see both sides";
}

TEST(SafetensorsProperties, ManyTinyTensorsCostMemoryInProportion) {
    std::string header = "{";
    for (int i = 0; i < 20'000; ++i)
        header += (i == 0 ? "" : ",") + testing::header_member(std::to_string(i), "U8", {0}, 0, 0);
    header += "}";
    const Bytes size{8 + header.size()};
    {
        const AllocationWatch watch;
        EXPECT_TRUE(interpret_safetensors("m", header, size, {}).has_value());
        EXPECT_LE(watch.peak(), 10 * size.count());
    }
    header.replace(header.size() - 30, 30, 30, 'x');
    const AllocationWatch watch;
    EXPECT_FALSE(interpret_safetensors("m", header, size, {}).has_value());
    EXPECT_LE(watch.largest(), size.count());
    EXPECT_LE(watch.peak(), 3 * size.count());
}

TEST(SafetensorsProperties, DeepNestingCostsNothing) {
    for (const auto* open : {"[", "{\"a\":", "{\"__metadata__\":{\"a\":"}) {
        std::string header = "{\"a\":";
        for (int i = 0; i < 100'000; ++i) header += open;
        const AllocationWatch watch;
        EXPECT_FALSE(interpret_safetensors("m", header, Bytes{8 + header.size()}, {}).has_value());
        EXPECT_LT(watch.peak(), 10'000U);
    }
}

}  // namespace
}  // namespace ballast::formats
