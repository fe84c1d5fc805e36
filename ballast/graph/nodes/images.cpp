// Nodes that read, make, change and write pictures and masks.

#include <filesystem>
#include <system_error>

#include "ballast/engine/core/output_name.hpp"
#include "ballast/engine/core/sha256.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/nodes/families.hpp"

namespace ballast::graph::nodes {

namespace {

/// The name of the picture; empty if the input is linked or not given.
std::string picture_name(const Constants& constants) {
    const Json* name = find_member(constants, "image");
    return name != nullptr && name->is_string() ? name->get<std::string>() : std::string{};
}

std::optional<ClassRefusal> check_picture(const Constants& constants, const Folders& folders) {
    const std::string name = picture_name(constants);
    const auto path = folders.picture_path(name);
    if (path) return std::nullopt;
    return ClassRefusal{.details = "Invalid image file: " + name,
                        .message = path.error().what + ": " + path.error().why,
                        .hint = path.error().hint};
}

/// The first part of `folder` below `root` that is there and is no folder; empty if none is.
std::filesystem::path obstacle(std::filesystem::path root, const std::filesystem::path& folder) {
    for (const auto& part : folder) {
        root /= part;
        std::error_code ignored;
        const auto status = std::filesystem::status(root, ignored);
        if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) return root;
    }
    return {};
}

std::optional<ClassRefusal> check_prefix(const Constants& constants, const Folders& folders) {
    const Json* prefix = find_member(constants, "filename_prefix");
    if (prefix == nullptr || !prefix->is_string()) return std::nullopt;
    const auto name = parse_output_pattern(prefix->get_ref<const std::string&>());
    if (!name)
        return ClassRefusal{.details = name.error().why,
                            .message = "The filename prefix cannot be used",
                            .hint = name.error().hint};
    const auto blocked = obstacle(folders.paths().output, name->folder);
    if (blocked.empty()) return std::nullopt;
    return ClassRefusal{.details = blocked.string() + " is a file, no folder",
                        .message = "The filename prefix cannot be used",
                        .hint = "choose another prefix, or another output folder"};
}

Result<std::string> picture_content(const Constants& constants, const Folders& folders) {
    return folders.picture_path(picture_name(constants)).and_then(sha256_of_file);
}

InputDeclaration size(std::string name, std::int64_t least) {
    return {.name = std::move(name),
            .field =
                IntegerField{.default_value = 512, .min = least, .max = kMaxResolution, .step = 1}};
}

std::vector<OutputDeclaration> one_image() { return {{.type = "IMAGE"}}; }

}  // namespace

std::vector<NodeDeclaration> images() {
    return {
        {.class_type = "LoadImage",
         .display_name = "Load Image",
         .category = "image",
         .inputs = {{.name = "image", .field = ChoiceField{InputPictures{}}}},
         .outputs = {{.type = "IMAGE"}, {.type = "MASK"}},
         .class_check = {.inputs = {"image"}, .check = &check_picture},
         .change_detector = &picture_content},
        {.class_type = "ImageScale",
         .display_name = "Upscale Image",
         .category = "image/upscaling",
         .inputs = {link("image", "IMAGE"),
                    choice("upscale_method",
                           {"nearest-exact", "bilinear", "area", "bicubic", "lanczos"}),
                    size("width", 0), size("height", 0), choice("crop", {"disabled", "center"})},
         .outputs = one_image()},
        {.class_type = "ImageInvert",
         .display_name = "Invert Image",
         .category = "image",
         .inputs = {link("image", "IMAGE")},
         .outputs = one_image()},
        {.class_type = "EmptyImage",
         .display_name = "EmptyImage",
         .category = "image",
         .inputs = {size("width", 1),
                    size("height", 1),
                    {.name = "batch_size",
                     .field = IntegerField{.default_value = 1, .min = 1, .max = 4096}},
                    {.name = "color",
                     .field = IntegerField{.default_value = 0,
                                           .min = 0,
                                           .max = 0xFFFFFF,
                                           .step = 1,
                                           .display = "color"}}},
         .outputs = one_image()},
        {.class_type = "ImageBatch",
         .display_name = "Batch Images",
         .category = "image",
         .standing = Standing::deprecated,
         .inputs = {link("image1", "IMAGE"), link("image2", "IMAGE")},
         .outputs = one_image()},
        {.class_type = "SolidMask",
         .category = "mask",
         .module = "comfy_extras.nodes_mask",
         .generation = Generation::schema,
         .inputs = {{.name = "value", .field = NumberField{.default_value = 1.0, .max = 1.0}},
                    size("width", 1),
                    size("height", 1)},
         .outputs = {{.type = "MASK"}}},
        {.class_type = "SaveImage",
         .display_name = "Save Image",
         .category = "image",
         .description = "Writes pictures into the output folder.",
         .role = Role::output,
         .inputs = {link("images", "IMAGE", "The pictures to save."),
                    {.name = "filename_prefix",
                     .field = TextField{.default_value = "ComfyUI"},
                     .tooltip = "Beginning of the file names; may contain subfolders and tokens "
                                "such as %width% or %year%."},
                    hidden("prompt", "PROMPT"),
                    hidden("extra_pnginfo", "EXTRA_PNGINFO")},
         .class_check = {.inputs = {"filename_prefix"}, .check = &check_prefix}},
        {.class_type = "PreviewImage",
         .display_name = "Preview Image",
         .category = "image",
         .description = "Writes pictures into the folder of temporary files.",
         .role = Role::output,
         .inputs = {link("images", "IMAGE"), hidden("prompt", "PROMPT"),
                    hidden("extra_pnginfo", "EXTRA_PNGINFO")}},
    };
}

}  // namespace ballast::graph::nodes
