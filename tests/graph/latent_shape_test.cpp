#include "ballast/graph/latent_shape.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/graph/execution_support.hpp"

namespace ballast::graph {
namespace {

using ::testing::Field;

/// The standard nodes, and one that gives a whole number.
NodeCatalogue catalogue_with_number() {
    auto nodes = standard_catalogue().all();
    nodes.push_back({.class_type = "Number",
                     .category = "test",
                     .inputs = {{.name = "n", .field = IntegerField{.max = 100000}}},
                     .outputs = {{.type = "INT"}}});
    nodes.push_back({.class_type = "Keep",
                     .category = "test",
                     .role = Role::output,
                     .inputs = {link("samples", "LATENT")}});
    return NodeCatalogue(nodes);
}

/// The latents that node "last" of these gives.
LatentShape last_of(const std::string& nodes) {
    static const testing::RecordedFolders recorded;
    const auto workflow = testing::valid(
        testing::workflow_of("{" + nodes +
                             R"(,"keep":{"class_type":"Keep","inputs":{"samples":["last",0]}}})"),
        catalogue_with_number(), recorded.folders());
    const auto node = std::ranges::find(workflow.nodes, "last", &ValidNode::id);
    return latent_shapes(workflow)[static_cast<std::size_t>(node - workflow.nodes.begin())];
}

std::string empty(const std::string& id, int width, int height, int batch) {
    return fmt::format(
        R"("{}":{{"class_type":"EmptyLatentImage","inputs":{{"width":{},"height":{},"batch_size":{}}}}})",
        id, width, height, batch);
}

/// LatentUpscale behind "a".
std::string upscaled(int width, int height) {
    return fmt::format(
        R"(,"last":{{"class_type":"LatentUpscale","inputs":{{"samples":["a",0],"upscale_method":"area",)"
        R"("width":{},"height":{},"crop":"disabled"}}}})",
        width, height);
}

std::string scaled(const std::string& id, const std::string& from, double by) {
    return fmt::format(R"(,"{}":{{"class_type":"LatentUpscaleBy","inputs":{{"samples":["{}",0],)"
                       R"("upscale_method":"area","scale_by":{}}}}})",
                       id, from, by);
}

constexpr auto kPicture =
    R"("i":{"class_type":"LoadImage","inputs":{"image":"rgb.png"}},
       "v":{"class_type":"VAELoader","inputs":{"vae_name":"v.safetensors"}},)";

LatentShape known(std::int64_t width, std::int64_t height, std::int64_t batch = 1) {
    return {.width = width, .height = height, .batch = batch, .is_assumed = false};
}

TEST(LatentShape, OfEmptyLatentsIsWhatTheNodeSays) {
    EXPECT_EQ(last_of(empty("last", 512, 768, 3)), known(64, 96, 3));
    EXPECT_EQ(last_of(empty("last", 16, 16384, 4096)), known(2, 2048, 4096));
}

TEST(LatentShape, FollowsUpscaling) {
    const auto start = empty("a", 512, 256, 2);
    EXPECT_EQ(last_of(start + upscaled(1024, 768)), known(128, 96, 2));
    EXPECT_EQ(last_of(start + scaled("last", "a", 1.5)), known(96, 48, 2));
    EXPECT_EQ(last_of(start + scaled("b", "a", 2) + scaled("last", "b", 2)), known(256, 128, 2));
}

TEST(LatentShape, ASideOfZeroFollowsTheOther) {
    const auto start = empty("a", 512, 256, 1);
    EXPECT_EQ(last_of(start + upscaled(0, 0)), known(64, 32)) << "nothing changes";
    EXPECT_EQ(last_of(start + upscaled(1024, 0)), known(128, 64));
    EXPECT_EQ(last_of(start + upscaled(0, 1024)), known(256, 128));
    EXPECT_EQ(last_of(start + upscaled(16, 16)), known(8, 8)) << "the least are 64 pixels";
}

TEST(LatentShape, IsThatOfTheInputBehindNodesThatChangeNoSize) {
    EXPECT_EQ(
        last_of(empty("a", 512, 256, 2) +
                R"(,"m":{"class_type":"SolidMask","inputs":{"value":1.0,"width":8,"height":8}},
          "last":{"class_type":"SetLatentNoiseMask",
                  "inputs":{"samples":["a",0],"mask":["m",0]}})"),
        known(64, 32, 2));
}

TEST(LatentShape, OfAPictureIsAssumed) {
    EXPECT_EQ(
        last_of(std::string(kPicture) +
                R"("last":{"class_type":"VAEEncode","inputs":{"pixels":["i",0],"vae":["v",0]}})"),
        LatentShape{});
    EXPECT_EQ(LatentShape{}.width, 512 / kPixelsPerCell);
    EXPECT_TRUE(LatentShape{}.is_assumed);
    const auto larger =
        last_of(std::string(kPicture) +
                R"("a":{"class_type":"VAEEncode","inputs":{"pixels":["i",0],"vae":["v",0]}})" +
                upscaled(1024, 1024));
    EXPECT_EQ(larger.width, 128);
    EXPECT_TRUE(larger.is_assumed) << "nobody knows how many they are";
}

TEST(LatentShape, OfLinkedNumbersIsAssumed) {
    EXPECT_EQ(last_of(R"("n":{"class_type":"Number","inputs":{"n":1024}},
                         "last":{"class_type":"EmptyLatentImage",
                                 "inputs":{"width":["n",0],"height":512,"batch_size":1}})"),
              LatentShape{});
}

TEST(LatentShape, GrowsWithoutOverflow) {
    auto nodes = empty("s0", 16384, 16384, 1);
    for (int i = 0; i < 40; ++i)
        nodes += scaled(i == 39 ? "last" : fmt::format("s{}", i + 1), fmt::format("s{}", i), 8);
    const auto huge = last_of(nodes);
    EXPECT_GT(huge.width, 1 << 16) << "more than any model takes";
    EXPECT_EQ(huge.width, huge.height);
    auto small = empty("s0", 16, 16, 1);
    for (int i = 0; i < 40; ++i)
        small += scaled(i == 39 ? "last" : fmt::format("s{}", i + 1), fmt::format("s{}", i), 0.01);
    EXPECT_EQ(last_of(small), known(1, 1));
}

}  // namespace
}  // namespace ballast::graph
