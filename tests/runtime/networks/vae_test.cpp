#include "ballast/runtime/vae/vae.hpp"

#include <gtest/gtest.h>

#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::runtime::vae {
namespace {

using ballast::testing::Taps;

struct TinyVae : ballast::testing::TinyPart<Vae, &models::sd::describe_vae> {
    nn::Forward forward{part.source};
};

TEST(Vae, DecodesAsTheReference) {
    TinyVae tiny;
    tiny.expect(tiny.network.decode(tiny.forward, tiny.golden["vae.decode.latent"]),
                "vae.decode.image");
    tiny.expect(tiny.network.pixels(tiny.forward, tiny.golden["vae.decode.latent"]),
                "vae.decode.raw");
}

TEST(Vae, MatchesTheReferenceInEveryTappedModule) {
    TinyVae tiny;
    Taps taps;
    const nn::Forward forward(tiny.part.source, nullptr, &taps);
    tiny.network.decode(forward, tiny.golden["vae.decode.latent"].narrow(0, 0, 1));
    const auto first = taps.outputs;
    tiny.network.decode(forward, tiny.golden["vae.decode.latent"].narrow(0, 1, 1));
    const std::string prefix = "vae.decode.tap.";
    int compared = 0;
    for (const auto& entry : tiny.golden.directory().entries()) {
        if (!entry.name.starts_with(prefix)) continue;
        const auto module = "decoder." + entry.name.substr(prefix.size());
        ASSERT_TRUE(first.contains(module)) << module;
        // the file does not say which of the two pictures it was
        const auto expected = tiny.golden[entry.name];
        const auto difference = [&](const at::Tensor& t) {
            return t.sub(expected).abs().max().item<double>();
        };
        EXPECT_LE(std::min(difference(first.at(module)), difference(taps.outputs.at(module))),
                  tiny.tolerances[entry.name])
            << module;
        ++compared;
    }
    EXPECT_EQ(compared, 7);
}

TEST(Vae, EncodesAsTheReference) {
    TinyVae tiny;
    const auto image = tiny.golden["vae.encode.image"];
    tiny.expect(tiny.network.encode(tiny.forward, image), "vae.encode.latent");
    tiny.expect(tiny.network.moments(tiny.forward,
                                     image.permute({0, 3, 1, 2}).mul(2.0).sub(1.0).contiguous()),
                "vae.encode.moments");
}

TEST(Vae, CropsAroundTheCentreToAMultipleOfItsFactor) {
    TinyVae tiny;
    tiny.expect(tiny.network.encode(tiny.forward, tiny.golden["vae.encode_crop.image"]),
                "vae.encode_crop.latent");
}

TEST(Vae, DecodesInTilesAsTheReference) {
    TinyVae tiny;
    const auto latent = tiny.golden["vae.decode_tiled.latent"];
    tiny.expect(
        tiny.network.decode_tiled(tiny.forward, latent, {.height = 8, .width = 8, .overlap = 2}),
        "vae.decode_tiled.image");
    tiny.expect(tiny.network.decode(tiny.forward, latent), "vae.decode_tiled.untiled");
}

TEST(Vae, EncodesInTilesAsTheReference) {
    TinyVae tiny;
    tiny.expect(tiny.network.encode_tiled(tiny.forward, tiny.golden["vae.encode_tiled.image"],
                                          {.height = 64, .width = 64, .overlap = 16}),
                "vae.encode_tiled.latent");
}

TEST(Vae, RefusesWhatIsNoPictureAndNoLatent) {
    TinyVae tiny;
    const auto attempt = [&](auto&& work) { return guarded("try", work); };
    const auto small = attempt(
        [&] { return tiny.network.encode(tiny.forward, ops::zeros({1, 7, 64, 3}, at::kFloat)); });
    ASSERT_FALSE(small.has_value());
    EXPECT_EQ(small.error().code, Code::bad_value);
    const auto channels = attempt(
        [&] { return tiny.network.decode(tiny.forward, ops::zeros({1, 16, 8, 8}, at::kFloat)); });
    ASSERT_FALSE(channels.has_value());
    EXPECT_EQ(channels.error().code, Code::bad_value);
    EXPECT_NE(channels.error().why.find("4 channels"), std::string::npos);
}

}  // namespace
}  // namespace ballast::runtime::vae
