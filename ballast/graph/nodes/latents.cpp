// Nodes that make, resize and translate latents.

#include "ballast/graph/nodes/families.hpp"

namespace ballast::graph::nodes {

namespace {

InputDeclaration side(std::string name, std::int64_t least, std::string tooltip = {}) {
    return {
        .name = std::move(name),
        .field = IntegerField{.default_value = 512, .min = least, .max = kMaxResolution, .step = 8},
        .tooltip = std::move(tooltip)};
}

InputDeclaration upscale_method() {
    return choice("upscale_method", {"nearest-exact", "bilinear", "area", "bicubic", "bislerp"});
}

InputDeclaration tile_field(std::string name, IntegerField field, std::string tooltip = {}) {
    field.max = 4096;
    return {.name = std::move(name), .field = field, .tooltip = std::move(tooltip)};
}

std::vector<OutputDeclaration> one_latent() { return {{.type = "LATENT"}}; }

}  // namespace

std::vector<NodeDeclaration> latents() {
    return {
        {.class_type = "EmptyLatentImage",
         .display_name = "Empty Latent Image",
         .category = "latent",
         .description = "A batch of empty latents, to start sampling from.",
         .inputs = {side("width", 16, "Width of the pictures in pixels."),
                    side("height", 16, "Height of the pictures in pixels."),
                    {.name = "batch_size",
                     .field = IntegerField{.default_value = 1, .min = 1, .max = 4096},
                     .tooltip = "How many pictures to make at once."}},
         .outputs = {{.type = "LATENT", .tooltip = "The empty latents."}}},
        {.class_type = "LatentUpscale",
         .display_name = "Upscale Latent",
         .category = "latent",
         .inputs = {link("samples", "LATENT"), upscale_method(), side("width", 0),
                    side("height", 0), choice("crop", {"disabled", "center"})},
         .outputs = one_latent()},
        {.class_type = "LatentUpscaleBy",
         .display_name = "Upscale Latent By",
         .category = "latent",
         .inputs = {link("samples", "LATENT"),
                    upscale_method(),
                    {.name = "scale_by",
                     .field = NumberField{.default_value = 1.5, .min = 0.01, .max = 8.0}}},
         .outputs = one_latent()},
        {.class_type = "SetLatentNoiseMask",
         .display_name = "Set Latent Noise Mask",
         .category = "latent/inpaint",
         .inputs = {link("samples", "LATENT"), link("mask", "MASK")},
         .outputs = one_latent()},
        {.class_type = "VAEEncode",
         .display_name = "VAE Encode",
         .category = "latent",
         .inputs = {link("pixels", "IMAGE"), link("vae", "VAE")},
         .outputs = one_latent()},
        {.class_type = "VAEDecode",
         .display_name = "VAE Decode",
         .category = "latent",
         .description = "Turns latents into pictures.",
         .inputs = {link("samples", "LATENT", "The latents to decode."),
                    link("vae", "VAE", "The autoencoder to decode with.")},
         .outputs = {{.type = "IMAGE", .tooltip = "The pictures."}}},
        {.class_type = "VAEDecodeTiled",
         .display_name = "VAE Decode (Tiled)",
         .category = "_for_testing",
         .inputs = {link("samples", "LATENT"), link("vae", "VAE"),
                    tile_field("tile_size", {.default_value = 512, .min = 64, .step = 32}),
                    tile_field("overlap", {.default_value = 64, .min = 0, .step = 32}),
                    tile_field("temporal_size", {.default_value = 64, .min = 8, .step = 4},
                               "Frames decoded at once; for video autoencoders only."),
                    tile_field("temporal_overlap", {.default_value = 8, .min = 4, .step = 4},
                               "Frames that neighbours share; for video autoencoders only.")},
         .outputs = {{.type = "IMAGE"}}},
    };
}

}  // namespace ballast::graph::nodes
