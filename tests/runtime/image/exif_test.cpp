#include "ballast/runtime/image/exif.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace ballast::runtime::image {
namespace {

Orientation read(const std::string& block) {
    return exif_orientation(std::as_bytes(std::span(block)));
}

const std::string kLittle("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22);
const std::string kBig("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 22);

TEST(ExifOrientation, IsReadInBothByteOrders) {
    EXPECT_EQ(read(kLittle), Orientation::right_top);
    EXPECT_EQ(read(kBig), Orientation::right_top);
}

TEST(ExifOrientation, OfBrokenBlocksIsAsStored) {
    EXPECT_EQ(read(""), Orientation::top_left);
    EXPECT_EQ(read("XX*\0"), Orientation::top_left);
    for (std::size_t length = 0; length < 20; ++length) {
        EXPECT_EQ(read(kLittle.substr(0, length)), Orientation::top_left) << length;
        EXPECT_EQ(read(kBig.substr(0, length)), Orientation::top_left) << length;
    }
    auto outside = kLittle;
    outside[7] = '\xFF';
    EXPECT_EQ(read(outside), Orientation::top_left);
    auto nine = kLittle;
    nine[18] = '\x09';
    EXPECT_EQ(read(nine), Orientation::top_left);
}

}  // namespace
}  // namespace ballast::runtime::image
