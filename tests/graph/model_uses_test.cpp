#include "ballast/graph/model_uses.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/graph/execution_support.hpp"

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A picture of one checkpoint; `changes` replaces or adds nodes.
ValidWorkflow picture(std::string_view changes = "{}") {
    static const testing::RecordedFolders recorded;
    auto nodes = testing::json(R"({
        "4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.ckpt"}},
        "5":{"class_type":"EmptyLatentImage","inputs":{"width":512,"height":256,"batch_size":2}},
        "6":{"class_type":"CLIPTextEncode","inputs":{"text":"a cat","clip":["4",1]}},
        "7":{"class_type":"CLIPTextEncode","inputs":{"text":"","clip":["4",1]}},
        "3":{"class_type":"KSampler","inputs":{"model":["4",0],"seed":1,"steps":3,"cfg":3.0,
             "sampler_name":"euler","scheduler":"normal","positive":["6",0],"negative":["7",0],
             "latent_image":["5",0],"denoise":1.0}},
        "8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},
        "9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"p"}}})");
    nodes.merge_patch(testing::json(changes));
    return testing::valid(testing::workflow_of(nodes.dump()), standard_catalogue(),
                          recorded.folders());
}

/// "7 text 4": node, part and loader.
std::vector<std::string> texts(const ValidWorkflow& workflow) {
    std::vector<std::string> list;
    for (const auto& use : model_uses(workflow))
        list.push_back(fmt::format("{} {} {}", workflow.nodes[use.node].id, use.part->name,
                                   workflow.nodes[use.loader].id));
    return list;
}

/// The shape of a step of the network.
models::StepShape network_shape(const ValidWorkflow& workflow) {
    for (const auto& use : model_uses(workflow))
        if (use.part->name == "unet") return use.shape;
    ADD_FAILURE() << "no use of a network";
    return {};
}

constexpr auto kSampledFromParts = R"({
    "3":{"class_type":"SamplerCustomAdvanced","inputs":{"noise":["n",0],"guider":["g",0],
         "sampler":["k",0],"sigmas":["s",0],"latent_image":["5",0],
         "model":null,"seed":null,"steps":null,"cfg":null,"sampler_name":null,"scheduler":null,
         "positive":null,"negative":null,"denoise":null}},
    "n":{"class_type":"RandomNoise","inputs":{"noise_seed":1}},
    "k":{"class_type":"KSamplerSelect","inputs":{"sampler_name":"euler"}},
    "s":{"class_type":"BasicScheduler",
         "inputs":{"model":["4",0],"scheduler":"normal","steps":3,"denoise":1.0}},
    "g":GUIDER})";

std::string sampled_with(std::string_view guider) {
    std::string text = kSampledFromParts;
    return text.replace(text.find("GUIDER"), 6, guider);
}

TEST(ModelUses, ComeInTheOrderOfExecution) {
    EXPECT_THAT(texts(picture()), ElementsAre("7 text 4", "6 text 4", "3 unet 4", "8 vae 4"));
}

TEST(ModelUses, AreSeenThroughNodesThatHandAModelOn) {
    EXPECT_THAT(texts(picture(R"({
        "m":{"class_type":"ModelSamplingDiscrete",
             "inputs":{"model":["4",0],"sampling":"eps","zsnr":false}},
        "c":{"class_type":"CLIPSetLastLayer","inputs":{"clip":["4",1],"stop_at_clip_layer":-2}},
        "3":{"inputs":{"model":["m",0]}}, "6":{"inputs":{"clip":["c",0]}}})")),
                ElementsAre("7 text 4", "6 text 4", "3 unet 4", "8 vae 4"));
}

TEST(ModelUses, OfANetworkGoThroughGuiders) {
    const auto workflow = picture(sampled_with(
        R"({"class_type":"BasicGuider","inputs":{"model":["4",0],"conditioning":["6",0]}})"));
    EXPECT_THAT(texts(workflow), ::testing::Contains("3 unet 4")) << "the sampler, not the guider";
    EXPECT_EQ(std::ranges::count(texts(workflow), "s unet 4"), 0) << "a schedule needs no weights";
}

TEST(ModelUses, AreOnlyThoseThatOutputsNeed) {
    EXPECT_THAT(texts(picture(R"({"8":null,"9":null,"3":null,
        "p":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":0}},
        "q":{"class_type":"PreviewImage","inputs":{"images":["p",0]}}})")),
                IsEmpty());
}

TEST(ModelUses, KnowTheShapeOfAStep) {
    EXPECT_EQ(network_shape(picture()),
              (models::StepShape{.batch = 2, .height = 32, .width = 64, .tokens = 77, .sides = 2}));
    const auto uses = model_uses(picture());
    EXPECT_EQ(uses.front().shape, models::StepShape{}) << "texts are encoded alike";
    EXPECT_EQ(uses.back().shape.width, 64);
    EXPECT_FALSE(uses.back().is_shape_assumed);
}

TEST(ModelUses, AtAScaleOfOneGuidanceHasOneSide) {
    const auto sides = [](const std::string& changes) {
        return network_shape(picture(changes)).sides;
    };
    EXPECT_EQ(sides(R"({"3":{"inputs":{"cfg":1.0}}})"), 1);
    EXPECT_EQ(sides(R"({"3":{"inputs":{"cfg":1.1}}})"), 2);
    EXPECT_EQ(sides(R"({"3":{"inputs":{"cfg":0.0}}})"), 2);
    EXPECT_EQ(sides(sampled_with(
                  R"({"class_type":"BasicGuider",
                      "inputs":{"model":["4",0],"conditioning":["6",0]}})")),
              1);
    for (const auto& [cfg, expected] : {std::pair{"1.0", 1}, {"4.0", 2}})
        EXPECT_EQ(sides(sampled_with(fmt::format(
                      R"({{"class_type":"CFGGuider","inputs":{{"model":["4",0],"cfg":{},
                          "positive":["6",0],"negative":["7",0]}}}})",
                      cfg))),
                  expected);
}

TEST(ModelUses, TilesBoundWhatIsDecodedAtOnce) {
    const auto workflow = picture(R"({"8":{"class_type":"VAEDecodeTiled",
        "inputs":{"tile_size":320,"overlap":64,"temporal_size":64,"temporal_overlap":8}}})");
    const auto decoding = model_uses(workflow).back();
    EXPECT_EQ(decoding.shape.width, 40);
    EXPECT_EQ(decoding.shape.height, 32) << "less than a tile";
    std::vector<std::int64_t> widths;
    for (const auto& smaller : decoding.smaller) widths.push_back(smaller.shape.width);
    EXPECT_THAT(widths, ElementsAre(20, 10));
}

TEST(ModelUses, OfAPictureHaveAnAssumedShape) {
    const auto workflow = picture(R"({
        "i":{"class_type":"LoadImage","inputs":{"image":"rgb.png"}},
        "5":{"class_type":"VAEEncode","inputs":{"pixels":["i",0],"vae":["4",2],
             "width":null,"height":null,"batch_size":null}}})");
    EXPECT_THAT(texts(workflow), ::testing::UnorderedElementsAre("5 vae 4", "7 text 4", "6 text 4",
                                                                 "3 unet 4", "8 vae 4"));
    for (const auto& use : model_uses(workflow))
        EXPECT_EQ(use.is_shape_assumed, use.part->name != "text") << use.part->name;
}

}  // namespace
}  // namespace ballast::graph
