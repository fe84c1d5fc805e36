#include "ballast/runtime/image/png_encoder.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "ballast/graph/png_text.hpp"
#include "ballast/graph/python_json.hpp"
#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "tests/runtime/image/pictures.hpp"

namespace ballast::runtime::image {
namespace {

using ::testing::ElementsAre;
using ::testing::Lt;

/// Types of all chunks.
std::vector<std::string> chunk_types(const std::string& file) {
    std::vector<std::string> types;
    for (std::size_t at = 8; at < file.size();) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i)
            length = length * 256 + static_cast<unsigned char>(file[at + i]);
        types.push_back(file.substr(at + 4, 4));
        at += length + 12;
    }
    return types;
}

/// First two bytes of the picture data.
std::string stream_header(const std::string& file) { return file.substr(file.find("IDAT") + 4, 2); }

TEST(PngEncoder, WritesWhatTheReferenceWrote) {
    const auto expected = nlohmann::json::parse(golden("api/png.json"))["file_of_node_3"];
    const auto reference = decode_png(bytes_of(golden("api/saved_with_metadata.png")));
    const auto texts = graph::png_texts(golden("api/saved_with_metadata.png")).value();
    std::vector<PngText> same;
    for (const auto& [keyword, text] : texts) same.push_back({keyword, text});
    const auto file = encode_png(reference.raster, 4, same);
    EXPECT_THAT(chunk_types(file), ElementsAre("IHDR", "tEXt", "tEXt", "tEXt", "IDAT", "IEND"));
    EXPECT_EQ(graph::png_texts(file).value(), texts);
    EXPECT_EQ(file.substr(0, 33), golden("api/saved_with_metadata.png").substr(0, 33));
    const auto again = decode_png(bytes_of(file)).raster;
    for (std::size_t y = 0; y < again.height; ++y)
        for (std::size_t x = 0; x < again.width; ++x)
            for (std::size_t c = 0; c < 3; ++c)
                EXPECT_EQ(again.row(y)[x * 3 + c], expected["pixels"][y][x][c].get<int>());
}

TEST(PngEncoder, StartsTheStreamAsTheReferenceDoes) {
    EXPECT_EQ(stream_header(encode_png(pattern(6, 4), 4, {})), "\x78\x5E");
    EXPECT_EQ(stream_header(encode_png(pattern(6, 4), 1, {})), "\x78\x01");
}

TEST(PngEncoder, LosesNothing) {
    for (const std::size_t channels : {3U, 4U})
        for (const std::size_t width : {1U, 2U, 7U, 300U})
            for (const std::size_t height : {1U, 2U, 5U, 700U}) {
                const auto raster = pattern(width, height, channels);
                const auto again = decode_png(bytes_of(encode_png(raster, 4, {}))).raster;
                ASSERT_EQ(again.width, width);
                ASSERT_EQ(again.height, height);
                ASSERT_EQ(again.channels, channels);
                ASSERT_EQ(again.bytes, raster.bytes);
            }
}

TEST(PngEncoder, MakesSmoothPicturesSmall) {
    Raster raster;
    raster.width = raster.height = 256;
    for (std::size_t i = 0; i < raster.width * raster.height; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            raster.bytes.push_back(static_cast<std::uint8_t>(i % 256 + i / 256 + c));
    EXPECT_THAT(encode_png(raster, 4, {}).size(), Lt(3000U));
}

TEST(PngEncoder, StoresTextAsAsciiJson) {
    graph::Json workflow = graph::Json::object();
    workflow["title"] = "caf\u00E9";
    const auto file = encode_png(pattern(1, 1), 4, {{"workflow", graph::python_json(workflow)}});
    EXPECT_EQ(graph::png_texts(file).value().front().text, "{\"title\": \"caf\\u00e9\"}");
}

TEST(PngKeyword, IsLatin1) {
    EXPECT_EQ(png_keyword("workflow"), "workflow");
    EXPECT_EQ(png_keyword("caf\u00E9 \u00B5\u00FF\u0080"), "caf\xE9 \xB5\xFF\x80");
    EXPECT_EQ(png_keyword(std::string(79, 'k')), std::string(79, 'k'));
    for (const std::string& name : std::vector<std::string>{
             "", std::string(80, 'k'), std::string("a\0b", 3), "\u0100", "\u753B", "\xFF", "\xC3"})
        EXPECT_EQ(png_keyword(name), std::nullopt) << name;
}

TEST(PngEncoder, RefusesWhatTheFormatCannotHold) {
    const auto code_of = [](const auto& encode) {
        try {
            encode();
            return Code::internal;
        } catch (const Failure& failure) {
            return failure.error().code;
        }
    };
    EXPECT_EQ(code_of([] { encode_png(Raster{}, 4, {}); }), Code::bad_value);
    EXPECT_EQ(code_of([] { encode_png(pattern(1, 1), 12, {}); }), Code::bad_value);
    EXPECT_EQ(code_of([] { encode_png(pattern(1, 1), 4, {{"", "x"}}); }), Code::bad_value);
    EXPECT_EQ(code_of([] { encode_png(pattern(1, 1), 4, {{std::string(80, 'k'), "x"}}); }),
              Code::bad_value);
    EXPECT_EQ(code_of([] {
                  Raster wide;
                  wide.width = std::size_t{1} << 32U;
                  wide.height = 1;
                  encode_png(wide, 4, {});
              }),
              Code::unsupported);
}

}  // namespace
}  // namespace ballast::runtime::image
