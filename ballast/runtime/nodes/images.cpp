// Nodes that read, make, change and write pictures and masks.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "ballast/engine/core/utf8.hpp"
#include "ballast/graph/python_json.hpp"
#include "ballast/runtime/image/pixels.hpp"
#include "ballast/runtime/image/png_encoder.hpp"
#include "ballast/runtime/image/read_picture.hpp"
#include "ballast/runtime/image/resample.hpp"
#include "ballast/runtime/image/save_path.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

constexpr int kSaveCompression = 4;
constexpr int kPreviewCompression = 1;
constexpr std::size_t kShownName = 100;  ///< bytes of a name that is too long

graph::NodeResult load_image(const Context& context, const graph::NodeCall& call) {
    const auto path = value_or_throw(context.session.folders().picture_path(call.text("image")));
    auto picture = value_or_throw(image::read_picture(path));
    context.session.log_opened(path);
    return outputs(std::make_shared<ImageValue>(std::move(picture.image)),
                   std::make_shared<MaskValue>(std::move(picture.mask)));
}

/// [B, H, W, C] at another size.
at::Tensor resized(const at::Tensor& pictures, image::Size size, image::Method method,
                   image::Crop crop) {
    return image::resample(pictures.permute({0, 3, 1, 2}), size, method, crop)
        .permute({0, 2, 3, 1})
        .contiguous();
}

graph::NodeResult scale(const Context&, const graph::NodeCall& call) {
    const auto& pictures = input<ImageValue>(call, "image");
    const auto wanted =
        image::intended_size({.width = call.integer("width"), .height = call.integer("height")},
                             {.width = pictures.size(2), .height = pictures.size(1)}, 1);
    return outputs(std::make_shared<ImageValue>(
        resized(pictures, wanted, image::parse_method(call.text("upscale_method")).value(),
                image::parse_crop(call.text("crop")).value())));
}

graph::NodeResult invert(const Context&, const graph::NodeCall& call) {
    return outputs(
        std::make_shared<ImageValue>(input<ImageValue>(call, "image").mul(-1.0).add_(1.0)));
}

graph::NodeResult empty_image(const Context&, const graph::NodeCall& call) {
    const auto color = call.integer("color");
    auto pictures = ops::empty(
        {call.integer("batch_size"), call.integer("height"), call.integer("width"), 3}, at::kFloat);
    for (std::int64_t channel = 0; channel < 3; ++channel)
        pictures.select(3, channel)
            .fill_(static_cast<double>((color >> (16 - 8 * channel)) & 0xFF) / 255.0);
    return outputs(std::make_shared<ImageValue>(std::move(pictures)));
}

/// The second is brought to the size of the first; missing channels are filled with ones.
graph::NodeResult batch(const Context&, const graph::NodeCall& call) {
    auto first = input<ImageValue>(call, "image1");
    auto second = input<ImageValue>(call, "image2");
    const auto with_channels = [](const at::Tensor& pictures, std::int64_t channels) {
        const auto missing = channels - pictures.size(3);
        if (missing == 0) return pictures;
        auto shape = pictures.sizes().vec();
        shape[3] = missing;
        return ops::cat({pictures, ops::full(shape, 1.0, at::kFloat)}, 3);
    };
    const auto channels = std::max(first.size(3), second.size(3));
    first = with_channels(first, channels);
    second = with_channels(second, channels);
    if (first.size(1) != second.size(1) || first.size(2) != second.size(2))
        second = resized(second, {.width = first.size(2), .height = first.size(1)},
                         image::Method::bilinear, image::Crop::center);
    return outputs(std::make_shared<ImageValue>(ops::cat({first, second}, 0)));
}

graph::NodeResult solid_mask(const Context&, const graph::NodeCall& call) {
    return outputs(std::make_shared<MaskValue>(ops::full(
        {1, call.integer("height"), call.integer("width")}, call.number("value"), at::kFloat)));
}

std::vector<image::PngText> texts_for(const Context& context, const graph::NodeCall& call) {
    std::vector<image::PngText> texts;
    if (!context.session.options().save_metadata) return texts;
    if (call.prompt != nullptr)
        texts.push_back({.keyword = "prompt", .text = graph::python_json(*call.prompt)});
    if (call.extra_pnginfo == nullptr || !call.extra_pnginfo->is_object()) return texts;
    for (const auto& [key, value] : call.extra_pnginfo->items()) {
        if (auto keyword = image::png_keyword(key))
            texts.push_back({.keyword = *std::move(keyword), .text = graph::python_json(value)});
        else
            context.observer.warning(
                fmt::format("the picture does not carry the text '{}': a PNG file takes names of 1 "
                            "to 79 Latin-1 characters",
                            escaped(utf8_prefix(key, kShownName))));
    }
    return texts;
}

struct Destination {
    std::filesystem::path root;
    std::string prefix;
    const char* type;
    int compression;
};

graph::NodeResult write(const Context& context, const graph::NodeCall& call,
                        const Destination& to) {
    const auto& pictures = input<ImageValue>(call, "images");
    if (!ops::is_finite(pictures))
        context.observer.warning("the picture has values that are not numbers; they become black");
    const auto now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    auto place = value_or_throw(image::save_place({.root = to.root,
                                                   .prefix = to.prefix,
                                                   .width = pictures.size(2),
                                                   .height = pictures.size(1),
                                                   .local_time = local}));
    const auto texts = texts_for(context, call);
    graph::NodeResult result;
    auto files = graph::Json::array();
    for (std::int64_t i = 0; i < pictures.size(0); ++i) {
        const auto bytes = image::encode_png(image::to_raster(pictures[i]), to.compression, texts);
        const auto path = value_or_throw(image::save_next(place, i, bytes));
        files.push_back({{"filename", path.filename().string()},
                         {"subfolder", place.subfolder},
                         {"type", to.type}});
    }
    result.ui = graph::Json{{"images", std::move(files)}};
    return result;
}

graph::NodeResult save(const Context& context, const graph::NodeCall& call) {
    return write(context, call,
                 {.root = context.session.options().output_folder,
                  .prefix = call.text("filename_prefix"),
                  .type = "output",
                  .compression = kSaveCompression});
}

graph::NodeResult preview(const Context& context, const graph::NodeCall& call) {
    return write(context, call,
                 {.root = context.session.options().temp_folder,
                  .prefix = "ComfyUI_temp_" + context.session.preview_suffix(),
                  .type = "temp",
                  .compression = kPreviewCompression});
}

constexpr std::array kNodes{
    ImplementationRow{"LoadImage", &load_image}, ImplementationRow{"ImageScale", &scale},
    ImplementationRow{"ImageInvert", &invert},   ImplementationRow{"EmptyImage", &empty_image},
    ImplementationRow{"ImageBatch", &batch},     ImplementationRow{"SolidMask", &solid_mask},
    ImplementationRow{"SaveImage", &save},       ImplementationRow{"PreviewImage", &preview},
};

}  // namespace

std::span<const ImplementationRow> image_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
