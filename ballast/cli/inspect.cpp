#include "ballast/cli/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ballast/cli/console.hpp"
#include "ballast/engine/core/settings.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/models/family.hpp"
#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"

namespace ballast::cli {
namespace {

/// Blocks of the whole file, names in natural order.
plan::BlockTable blocks_of(const formats::TensorDirectory& directory) {
    std::vector<plan::BlockTensor> tensors;
    tensors.reserve(directory.entries().size());
    for (const auto& entry : directory.entries())
        tensors.push_back({.name = entry.name,
                           .type = entry.type,
                           .shape = entry.shape,
                           .offset = entry.offset,
                           .bytes = entry.bytes});
    std::sort(tensors.begin(), tensors.end(),
              [](const auto& a, const auto& b) { return plan::natural_less(a.name, b.name); });
    return plan::group_into_blocks(tensors);
}

/// What the tensors say about the components of Stable Diffusion 1.x that the file has.
Json config_of(const formats::TensorDirectory& directory) {
    Json config = Json::object();
    if (const auto unet = models::sd::describe_unet(directory)) {
        const auto& c = unet->config;
        config["unet"] = {{"model_channels", c.model_channels},
                          {"channel_mult", c.channel_mult},
                          {"num_res_blocks", c.num_res_blocks},
                          {"transformer_depth", c.transformer_depth},
                          {"transformer_depth_middle", c.transformer_depth_middle},
                          {"transformer_depth_output", c.transformer_depth_output},
                          {"context_dim", c.context_dim},
                          {"num_heads", c.num_heads}};
    }
    if (const auto clip = models::sd::describe_clip(directory)) {
        const auto& c = clip->config;
        config["clip_l"] = {{"hidden_size", c.hidden_size},
                            {"num_attention_heads", c.num_attention_heads},
                            {"num_hidden_layers", c.num_hidden_layers},
                            {"intermediate_size", c.intermediate_size}};
    }
    if (const auto vae = models::sd::describe_vae(directory)) {
        const auto& c = vae->config;
        config["vae"] = {{"ch", c.ch},
                         {"ch_mult", c.ch_mult},
                         {"num_res_blocks", c.num_res_blocks},
                         {"z_channels", c.z_channels},
                         {"embed_dim", c.embed_dim}};
    }
    return config;
}

Json tensor_list(const formats::TensorDirectory& directory) {
    Json list = Json::array();
    for (const auto& entry : directory.entries())
        list.push_back({{"name", entry.name},
                        {"dtype", std::string(to_string(entry.type))},
                        {"shape", entry.shape},
                        {"offset", entry.offset},
                        {"bytes", entry.bytes.count()}});
    return list;
}

/// Reads every byte; returns how many.
Result<std::uint64_t> read_through(const std::filesystem::path& path) {
    const auto file = formats::File::open(path);
    if (!file) return fail(file.error());
    constexpr std::uint64_t kChunk = std::uint64_t{4} << 20U;
    std::vector<std::byte> buffer(std::min(kChunk, file->size().count()));
    std::uint64_t done = 0;
    while (done < file->size().count()) {
        const auto size = std::min<std::uint64_t>(buffer.size(), file->size().count() - done);
        if (auto read = file->read_at(done, std::span(buffer).first(size)); !read)
            return fail(std::move(read).error());
        done += size;
    }
    return done;
}

std::string text_of(const Json& document) {
    std::string text =
        fmt::format("{}: {}, {} in {} tensors\n", document["format"].get<std::string>(),
                    document["model"]["text"].get<std::string>(),
                    to_string(Bytes{document["bytes"].get<std::uint64_t>()}),
                    document["tensors"].get<std::size_t>());
    std::string types;
    for (const auto& [name, count] : document["dtypes"].items())
        types +=
            fmt::format("{}{} x {}", types.empty() ? "" : ", ", count.get<std::size_t>(), name);
    text += fmt::format("stored as: {}\n", types.empty() ? "nothing" : types);
    text += fmt::format("blocks: {}, loose parameters: {}\n", document["blocks"].get<std::size_t>(),
                        to_string(Bytes{document["loose_bytes"].get<std::uint64_t>()}));
    for (const auto& [part, config] : document["model"]["config"].items())
        text += fmt::format("{}: {}\n", part, config.dump());
    for (const auto& [key, value] : document["metadata"].items()) {
        auto shown = value.get<std::string>();
        if (shown.size() > 200) shown = shown.substr(0, 200) + "...";
        text += fmt::format("metadata {}: {}\n", escaped(key), escaped(shown));
    }
    for (const auto& warning : document["warnings"])
        text += fmt::format("warning: {}\n", escaped(warning.get<std::string>()));
    if (document.contains("verified_bytes"))
        text += fmt::format("verified: {} bytes read\n",
                            document["verified_bytes"].get<std::uint64_t>());
    if (document.contains("tensor_list"))
        for (const auto& tensor : document["tensor_list"])
            text += fmt::format(
                "{}  {}  {}  {} bytes at {}\n", escaped(tensor["name"].get<std::string>()),
                tensor["dtype"].get<std::string>(), tensor["shape"].dump(),
                tensor["bytes"].get<std::uint64_t>(), tensor["offset"].get<std::uint64_t>());
    return text;
}

}  // namespace

int inspect(const Invocation& invocation, Console& console) {
    const auto settings = resolve_settings({.command = kInspectCommand,
                                            .command_line = invocation.given,
                                            .environment = process_environment()});
    if (!settings) return console.fail(settings.error());
    const auto directory = formats::open_tensors(invocation.operand);
    if (!directory) return console.fail(directory.error());

    std::map<std::string, std::size_t> types;
    for (const auto& entry : directory->entries()) ++types[std::string(to_string(entry.type))];
    const auto recognition = models::recognise(*directory);
    const auto blocks = blocks_of(*directory);
    const auto loose = blocks.find(plan::kLooseBlock);

    Json document{{"format", fmt::format("{}", to_string(directory->format()))},
                  {"size", directory->file_size().count()},
                  {"tensors", directory->entries().size()},
                  {"bytes", directory->tensor_bytes().count()},
                  {"dtypes", types},
                  {"metadata", Json::object()},
                  {"model",
                   {{"family", std::string(to_string(recognition.family))},
                    {"text", std::string(recognition.text)},
                    {"config", config_of(*directory)}}},
                  {"blocks", blocks.blocks().size() - (loose ? 1 : 0)},
                  {"loose_bytes", loose ? blocks[*loose].bytes.count() : 0},
                  {"warnings", directory->warnings()}};
    for (const auto& [key, value] : directory->metadata()) document["metadata"][key] = value;
    if (settings->flag("verify")) {
        const auto read = read_through(directory->path());
        if (!read) return console.fail(read.error());
        document["verified_bytes"] = *read;
    }
    if (settings->flag("tensors")) {
        document["tensor_list"] = tensor_list(*directory);
    }
    console.say(text_of(document));
    console.print(document);
    return 0;
}

}  // namespace ballast::cli
