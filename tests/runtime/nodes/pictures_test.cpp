// Nodes that change the size of pictures and latents, and those that write pictures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/graph/png_text.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/session.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::content;
using ballast::testing::NodeHost;
using graph::Json;
using graph::ValuePtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

ValuePtr picture(std::int64_t height, std::int64_t width, std::int64_t channels = 3,
                 double value = 0.25) {
    return std::make_shared<ImageValue>(ops::full({1, height, width, channels}, value, at::kFloat));
}

TEST(ImageScale, KeepsAnEvenPictureEvenByEveryMethod) {
    NodeHost host;
    for (const auto* method : {"nearest-exact", "bilinear", "area", "bicubic", "lanczos"})
        for (const auto* crop : {"disabled", "center"}) {
            const auto scaled = host.run("ImageScale",
                                         {{"image", picture(24, 40)},
                                          {"upscale_method", Json(method)},
                                          {"width", Json(33)},
                                          {"height", Json(17)},
                                          {"crop", Json(crop)}},
                                         1)[0];
            const auto& pixels = content<ImageValue>(scaled);
            EXPECT_THAT(pixels.sizes().vec(), ElementsAre(1, 17, 33, 3)) << method;
            EXPECT_LT(pixels.sub(0.25).abs().max().item<float>(), 0.003F) << method;
        }
}

TEST(ImageScale, TakesASideThatIsLeftOutFromTheAspect) {
    NodeHost host;
    const auto scaled = [&](std::int64_t width, std::int64_t height) {
        return content<ImageValue>(host.run("ImageScale",
                                            {{"image", picture(20, 40)},
                                             {"upscale_method", Json("bilinear")},
                                             {"width", Json(width)},
                                             {"height", Json(height)},
                                             {"crop", Json("disabled")}},
                                            1)[0])
            .sizes()
            .vec();
    };
    EXPECT_THAT(scaled(80, 0), ElementsAre(1, 40, 80, 3));
    EXPECT_THAT(scaled(0, 10), ElementsAre(1, 10, 20, 3));
    EXPECT_THAT(scaled(0, 0), ElementsAre(1, 20, 40, 3));
}

TEST(LatentUpscale, GivesTheSizeInLatentCellsByEveryMethod) {
    NodeHost host;
    const auto latent =
        host.run("EmptyLatentImage",
                 {{"width", Json(64)}, {"height", Json(128)}, {"batch_size", Json(2)}}, 1)[0];
    for (const auto* method : {"nearest-exact", "bilinear", "area", "bicubic", "bislerp"}) {
        const auto upscaled = host.run("LatentUpscale",
                                       {{"samples", latent},
                                        {"upscale_method", Json(method)},
                                        {"width", Json(128)},
                                        {"height", Json(0)},
                                        {"crop", Json("disabled")}},
                                       1)[0];
        EXPECT_THAT(content<LatentValue>(upscaled).samples.sizes().vec(), ElementsAre(2, 4, 32, 16))
            << method;
        const auto by = host.run(
            "LatentUpscaleBy",
            {{"samples", latent}, {"upscale_method", Json(method)}, {"scale_by", Json(1.5)}}, 1)[0];
        EXPECT_THAT(content<LatentValue>(by).samples.sizes().vec(), ElementsAre(2, 4, 24, 12))
            << method;
    }
}

TEST(LatentUpscaleBy, RefusesToScaleToNothing) {
    NodeHost host;
    const auto latent =
        host.run("EmptyLatentImage",
                 {{"width", Json(64)}, {"height", Json(64)}, {"batch_size", Json(1)}}, 1)[0];
    const auto result = host.try_run(
        "LatentUpscaleBy",
        {{"samples", latent}, {"upscale_method", Json("bilinear")}, {"scale_by", Json(0.01)}}, 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::bad_value);
}

TEST(ImageBatch, BringsTheSecondPictureToTheFirst) {
    NodeHost host;
    const auto both = content<ImageValue>(host.run(
        "ImageBatch", {{"image1", picture(8, 16, 4)}, {"image2", picture(9, 3, 3, 0.75)}}, 1)[0]);
    EXPECT_THAT(both.sizes().vec(), ElementsAre(2, 8, 16, 4));
    EXPECT_LT(both[0].sub(0.25).abs().max().item<float>(), 1e-6F);
    EXPECT_LT(both[1].slice(2, 0, 3).sub(0.75).abs().max().item<float>(), 1e-6F);
    EXPECT_LT(both[1].slice(2, 3).sub(1.0).abs().max().item<float>(), 1e-6F);
}

TEST(EmptyImage, HasTheColourOfTheNumber) {
    NodeHost host;
    const auto pixels = content<ImageValue>(host.run("EmptyImage",
                                                     {{"width", Json(3)},
                                                      {"height", Json(2)},
                                                      {"batch_size", Json(2)},
                                                      {"color", Json(0xFF8000)}},
                                                     1)[0]);
    EXPECT_THAT(pixels.sizes().vec(), ElementsAre(2, 2, 3, 3));
    EXPECT_FLOAT_EQ(pixels[1][1][2][0].item<float>(), 1.0F);
    EXPECT_FLOAT_EQ(pixels[1][1][2][1].item<float>(), 128.0F / 255.0F);
    EXPECT_FLOAT_EQ(pixels[1][1][2][2].item<float>(), 0.0F);
}

/// A host's folders with options of one's own.
class Writing : public ::testing::Test {
protected:
    graph::NodeResult run(const std::string& node, bool save_metadata = true) {
        graph::RuntimeOptions options;
        options.output_folder = folder_.path() / "output";
        options.temp_folder = folder_.path() / "temp";
        options.save_metadata = save_metadata;
        Session session(std::move(options));
        graph::NodeCall call;
        call.node_id = "9";
        call.class_type = node;
        call.inputs = {
            {"images", std::make_shared<ImageValue>(ops::full({2, 8, 8, 3}, 0.5, at::kFloat))},
            {"filename_prefix", Json("sub/name")}};
        call.prompt = &prompt_;
        call.extra_pnginfo = &extra_;
        return value_or_throw(session.run(call, notes_));
    }
    [[nodiscard]] std::vector<graph::PngText> texts_of(const std::string& path) const {
        return graph::png_texts(ballast::testing::content_of(folder_.path() / path)).value();
    }

    ballast::testing::TemporaryFolder folder_;
    ballast::testing::NodeNotes notes_;
    const Json prompt_{{"9", {{"class_type", "SaveImage"}}}};
    Json extra_{{"workflow", {{"id", "x"}}}, {"note", "text"}};
};

TEST_F(Writing, NumbersTheFilesAndPutsTheWorkflowIntoEach) {
    const auto first = run("SaveImage");
    const auto second = run("SaveImage");
    const auto& images = first.ui.at("images");
    ASSERT_EQ(images.size(), 2U);
    EXPECT_EQ(images[0],
              (Json{{"filename", "name_00001_.png"}, {"subfolder", "sub"}, {"type", "output"}}));
    EXPECT_EQ(second.ui.at("images")[1].at("filename"), "name_00004_.png");
    for (const auto* name : {"output/sub/name_00001_.png", "output/sub/name_00004_.png"})
        EXPECT_THAT(texts_of(name),
                    ElementsAre(graph::PngText{"prompt", R"({"9": {"class_type": "SaveImage"}})"},
                                graph::PngText{"workflow", R"({"id": "x"})"},
                                graph::PngText{"note", R"("text")"}));
}

TEST_F(Writing, LeavesTheWorkflowOutWhenAsked) {
    (void)run("SaveImage", false);
    EXPECT_THAT(texts_of("output/sub/name_00001_.png"), IsEmpty());
}

TEST_F(Writing, LeavesOutTextsWhoseNameNoPictureCanCarry) {
    extra_ = {{"", 1},
              {std::string(80, 'k'), 2},
              {std::string("a\0b", 3), 3},
              {"\u753B\u50CF", 4},
              {"caf\u00E9", 5}};
    (void)run("SaveImage");
    EXPECT_THAT(texts_of("output/sub/name_00001_.png"),
                ElementsAre(graph::PngText{"prompt", R"({"9": {"class_type": "SaveImage"}})"},
                            graph::PngText{"caf\xE9", "5"}));
    EXPECT_THAT(notes_.warnings, ElementsAre(HasSubstr("''"), HasSubstr("kkk"),
                                             HasSubstr("a\\x00b"), HasSubstr("\u753B\u50CF")));
}

TEST_F(Writing, PutsPreviewsIntoTheTemporaryFolder) {
    const auto image = run("PreviewImage").ui.at("images").at(0);
    EXPECT_EQ(image.at("type"), "temp");
    const auto name = image.at("filename").get<std::string>();
    EXPECT_THAT(name, StartsWith("ComfyUI_temp_"));
    EXPECT_EQ(texts_of("temp/" + name).size(), 3U);
}

}  // namespace
}  // namespace ballast::runtime::nodes
