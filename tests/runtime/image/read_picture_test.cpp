#include "ballast/runtime/image/read_picture.hpp"

#include <gmock/gmock.h>

#include "tests/runtime/image/pictures.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::runtime::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReadPicture, RecognisesTheFormatByTheContent) {
    const ballast::testing::TemporaryFolder folder;
    const auto file = folder.write("photo.png", golden("images/grey.jpg"));
    const auto picture = read_picture(file);
    ASSERT_TRUE(picture.has_value()) << to_string(picture.error());
    EXPECT_THAT(picture->image.sizes().vec(), ElementsAre(1, 18, 26, 3));
}

TEST(ReadPicture, NamesTheFileThatItCannotRead) {
    const ballast::testing::TemporaryFolder folder;
    const auto missing = read_picture(folder / "none.png");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, Code::not_found);
    EXPECT_THAT(missing.error().place.file, HasSubstr("none.png"));

    const auto page = read_picture(folder.write("page.png", "<html>"));
    ASSERT_FALSE(page.has_value());
    EXPECT_EQ(page.error().code, Code::foreign_file);
    EXPECT_THAT(page.error().place.file, HasSubstr("page.png"));
    EXPECT_THAT(page.error().hint, HasSubstr("PNG or JPEG"));
}

}  // namespace
}  // namespace ballast::runtime::image
