#include <gmock/gmock.h>
#include <png.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include "ballast/graph/png_text.hpp"
#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/image/png_encoder.hpp"
#include "ballast/runtime/image/read_picture.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "tests/runtime/image/pictures.hpp"

namespace ballast::runtime::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// How the PNG library is to write a test picture.
struct Form {
    png_uint_32 width = 4;
    png_uint_32 height = 1;
    int depth = 8;
    int colour = PNG_COLOR_TYPE_RGB;
    int interlacing = PNG_INTERLACE_NONE;
    std::function<void(png_structp, png_infop)> more = {};
};

std::string written_by_the_library(const Form& form, AccountedVector<std::uint8_t> bytes) {
    std::string file;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(
        png, &file,
        [](png_structp out, png_bytep data, std::size_t count) {
            static_cast<std::string*>(png_get_io_ptr(out))
                ->append(reinterpret_cast<const char*>(data), count);
        },
        nullptr);
    png_set_IHDR(png, info, form.width, form.height, form.depth, form.colour, form.interlacing,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (form.more) form.more(png, info);
    png_write_info(png, info);
    std::vector<png_bytep> rows;
    const auto row_bytes = bytes.size() / form.height;
    for (std::size_t y = 0; y < form.height; ++y) rows.push_back(bytes.data() + y * row_bytes);
    png_write_image(png, rows.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return file;
}

Raster decoded(const std::string& file) { return decode_png(bytes_of(file)).raster; }

Error refusal_of(const std::string& file) {
    try {
        (void)decode_picture(bytes_of(file));
        return {};
    } catch (const Failure& failure) {
        return failure.error();
    }
}

TEST(DecodePng, ReadsEveryColourType) {
    EXPECT_THAT(decoded(written_by_the_library({.width = 2}, {1, 2, 3, 4, 5, 6})).bytes,
                ElementsAre(1, 2, 3, 4, 5, 6));
    const auto with_alpha =
        decoded(written_by_the_library({.width = 1, .colour = PNG_COLOR_TYPE_RGBA}, {1, 2, 3, 4}));
    EXPECT_EQ(with_alpha.channels, 4U);
    EXPECT_THAT(with_alpha.bytes, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(
        decoded(written_by_the_library({.width = 2, .colour = PNG_COLOR_TYPE_GRAY}, {7, 8})).bytes,
        ElementsAre(7, 7, 7, 8, 8, 8));
    EXPECT_THAT(
        decoded(written_by_the_library({.width = 1, .colour = PNG_COLOR_TYPE_GRAY_ALPHA}, {7, 9}))
            .bytes,
        ElementsAre(7, 7, 7, 9));
}

TEST(DecodePng, ReadsSmallAndLargeDepths) {
    const auto grey = [](int depth, AccountedVector<std::uint8_t> bytes) {
        return decoded(written_by_the_library(
                           {.width = 2, .depth = depth, .colour = PNG_COLOR_TYPE_GRAY}, bytes))
            .bytes;
    };
    EXPECT_THAT(grey(1, {0x40}), ElementsAre(0, 0, 0, 255, 255, 255));
    EXPECT_THAT(grey(2, {0x60}), ElementsAre(85, 85, 85, 170, 170, 170));
    EXPECT_THAT(grey(4, {0x1F}), ElementsAre(17, 17, 17, 255, 255, 255));
    // plain grey of 16 bits: divided by 255 and limited
    EXPECT_THAT(grey(16, {0x01, 0x00, 0xFF, 0xFF}), ElementsAre(1, 1, 1, 255, 255, 255));
    EXPECT_THAT(grey(16, {0xAB, 0xCD, 0x00, 0xFE}), ElementsAre(172, 172, 172, 0, 0, 0));
    // everything else: the upper eight
    EXPECT_THAT(decoded(written_by_the_library({.width = 1, .depth = 16},
                                               {0x12, 0xFF, 0x34, 0xFF, 0x56, 0xFF}))
                    .bytes,
                ElementsAre(0x12, 0x34, 0x56));
    EXPECT_THAT(decoded(written_by_the_library(
                            {.width = 1, .depth = 16, .colour = PNG_COLOR_TYPE_GRAY_ALPHA},
                            {0x12, 0xFF, 0x34, 0xFF}))
                    .bytes,
                ElementsAre(0x12, 0x12, 0x12, 0x34));
}

TEST(DecodePng, ReadsPalettesWithAndWithoutTransparency) {
    const auto palette = [](png_structp png, png_infop info) {
        const png_color colours[2] = {{10, 20, 30}, {40, 50, 60}};
        png_set_PLTE(png, info, colours, 2);
    };
    const Form form{.width = 2, .depth = 4, .colour = PNG_COLOR_TYPE_PALETTE, .more = palette};
    EXPECT_THAT(decoded(written_by_the_library(form, {0x10})).bytes,
                ElementsAre(40, 50, 60, 10, 20, 30));
    auto transparent = form;
    transparent.more = [palette](png_structp png, png_infop info) {
        palette(png, info);
        const png_byte alpha[1] = {99};
        png_set_tRNS(png, info, alpha, 1, nullptr);
    };
    EXPECT_THAT(decoded(written_by_the_library(transparent, {0x10})).bytes,
                ElementsAre(40, 50, 60, 255, 10, 20, 30, 99));
}

TEST(DecodePng, IgnoresATransparentColourAsTheReferenceDoes) {
    const Form form{.width = 1, .more = [](png_structp png, png_infop info) {
                        png_color_16 key{};
                        key.red = 1, key.green = 2, key.blue = 3;
                        png_set_tRNS(png, info, nullptr, 0, &key);
                    }};
    const auto raster = decoded(written_by_the_library(form, {1, 2, 3}));
    EXPECT_EQ(raster.channels, 3U);
}

TEST(DecodePng, ReadsInterlacedPictures) {
    const auto raster = pattern(13, 11);
    const Form form{.width = 13, .height = 11, .interlacing = PNG_INTERLACE_ADAM7};
    EXPECT_EQ(decoded(written_by_the_library(form, raster.bytes)).bytes, raster.bytes);
}

TEST(DecodePng, RefusesDamagedFiles) {
    const auto whole = encode_png(pattern(40, 40), 4, {});
    for (std::size_t length = 8; length < whole.size(); length += 7) {
        const auto error = refusal_of(whole.substr(0, length));
        EXPECT_EQ(error.code, Code::corrupt_file) << length;
        EXPECT_FALSE(error.why.empty());
    }
    for (std::size_t at = 8; at < whole.size(); at += 11) {
        auto damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        (void)refusal_of(damaged);  // any outcome but a crash
    }
}

TEST(DecodePng, RefusesPicturesThatAreTooLargeBeforeGettingMemory) {
    const auto with_size = [](std::uint32_t width, std::uint32_t height) {
        auto file = encode_png(pattern(1, 1), 4, {});
        for (std::size_t i = 0; i < 4; ++i) {
            file[16 + i] = static_cast<char>(width >> (24 - 8 * i) & 0xFFU);
            file[20 + i] = static_cast<char>(height >> (24 - 8 * i) & 0xFFU);
        }
        const auto sum = graph::png_checksum(std::string_view(file).substr(12, 17));
        for (std::size_t i = 0; i < 4; ++i)
            file[29 + i] = static_cast<char>(sum >> (24 - 8 * i) & 0xFFU);
        return file;
    };
    EXPECT_EQ(refusal_of(with_size(20'000, 20'000)).code, Code::unsupported);
    EXPECT_EQ(refusal_of(with_size(13'000, 13'000)).code, Code::corrupt_file);
    EXPECT_EQ(refusal_of(with_size(2'000'000'000, 1)).code, Code::corrupt_file);
    EXPECT_EQ(refusal_of(with_size(0, 1)).code, Code::corrupt_file);
}

/// Runs `work` under a limit on the memory of the processor; returns the most that was held.
template <typename Work>
Bytes peak_of(std::optional<Bytes> limit, const Work& work) {
    const auto ledger = std::make_shared<device::Ledger>();
    const HostAccounting accounting(ledger);
    ledger->set_limit(kCpu, limit);
    work();
    return ledger->snapshot()[kCpu].peak;
}

TEST(DecodePicture, RefusesByItsHeaderWhatTheLimitCannotHold) {
    constexpr std::size_t kSide = 1200;
    Raster flat{.width = kSide, .height = kSide};
    flat.bytes.resize(3 * kSide * kSide);
    const auto png = encode_png(flat, 4, {});
    const auto enough = peak_of(std::nullopt, [&] { (void)decode_picture(bytes_of(png)); });
    EXPECT_GE(enough, Bytes{kSide * kSide * (3 + 3 * sizeof(float))});
    const auto held = peak_of(Bytes{kSide * kSide * 12}, [&] {
        const auto error = refusal_of(png);
        EXPECT_EQ(error.code, Code::does_not_fit) << to_string(error);
        EXPECT_THAT(error.what, HasSubstr("1200 x 1200"));
        EXPECT_THAT(error.hint, HasSubstr("--memory-limit cpu="));
    });
    EXPECT_LT(held, Bytes{kSide * kSide});
}

TEST(DecodePicture, CountsWhatTheDecoderHoldsOfAProgressivePicture) {
    const auto plain = golden("images/colour-420-progressive.jpg");
    const auto picture = [&] { (void)decode_picture(bytes_of(plain)); };
    const auto need = peak_of(std::nullopt, picture);
    EXPECT_EQ(peak_of(need, picture), need);
    (void)peak_of(Bytes{1024}, [&] { EXPECT_EQ(refusal_of(plain).code, Code::does_not_fit); });
}

class DecodeJpeg : public ::testing::TestWithParam<const char*> {};

TEST_P(DecodeJpeg, EqualsTheReferencesLibrary) {
    const std::string name = std::string("images/") + GetParam();
    const auto picture = decode_picture(bytes_of(golden(name + ".jpg")));
    const auto expected = decode_picture(bytes_of(golden(name + ".png")));
    ASSERT_EQ(picture.image.sizes(), expected.image.sizes());
    const auto* ours = picture.image.const_data_ptr<float>();
    const auto* theirs = expected.image.const_data_ptr<float>();
    for (std::int64_t i = 0; i < picture.image.numel(); ++i)
        ASSERT_NEAR(ours[i] * 255.0F, theirs[i] * 255.0F, 1.01F) << i;
    EXPECT_THAT(picture.mask.sizes().vec(), ElementsAre(1, 64, 64));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DecodeJpeg,
                         ::testing::Values("colour-444", "colour-420-progressive", "grey", "cmyk",
                                           "orientation-1", "orientation-2", "orientation-3",
                                           "orientation-4", "orientation-5", "orientation-6",
                                           "orientation-7", "orientation-8"));

TEST(DecodeJpegErrors, RefuseDamagedFiles) {
    const auto whole = golden("images/colour-420-progressive.jpg");
    for (std::size_t length = 3; length + 2 < whole.size(); length += 5)
        EXPECT_EQ(refusal_of(whole.substr(0, length)).code, Code::corrupt_file) << length;
    for (std::size_t at = 3; at < whole.size(); ++at) {
        auto damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0xAA);
        (void)refusal_of(damaged);  // any outcome but a crash
    }
}

TEST(DecodePicture, GivesImageAndMaskOfAPngWithAlpha) {
    const auto picture = decode_picture(bytes_of(golden("api/input_rgba.png")));
    EXPECT_THAT(picture.image.sizes().vec(), ElementsAre(1, 4, 6, 3));
    EXPECT_THAT(picture.mask.sizes().vec(), ElementsAre(1, 4, 6));
    EXPECT_EQ((picture.image.accessor<float, 4>()[0][1][2][2]), 5.0F / 255.0F);
    EXPECT_EQ((picture.mask.accessor<float, 3>()[0][0][1]), 1.0F - 40.0F / 255.0F);
}

TEST(DecodePicture, NamesFormatsThatAreNotRead) {
    const std::vector<std::pair<std::string, std::string>> files{{"RIFF1234WEBPVP8 ", "WebP"},
                                                                 {"GIF89a", "GIF"},
                                                                 {"BM....", "BMP"},
                                                                 {"II*...", "TIFF"},
                                                                 {"<svg ", "SVG"}};
    for (const auto& [file, name] : files) {
        const auto error = refusal_of(file);
        EXPECT_EQ(error.code, Code::unsupported);
        EXPECT_THAT(error.why, HasSubstr(name));
        EXPECT_THAT(error.hint, HasSubstr("PNG"));
    }
}

TEST(DecodePicture, RefusesWhatIsNoPicture) {
    for (const std::string& file : std::vector<std::string>{"", "x", "<html>", "\xFF\xD8"}) {
        const auto error = refusal_of(file);
        EXPECT_EQ(error.code, Code::foreign_file);
        EXPECT_THAT(error.hint, HasSubstr("JPEG"));
    }
}

}  // namespace
}  // namespace ballast::runtime::image
