#include "ballast/models/sd/vae.hpp"

#include <fmt/format.h>

#include <array>

#include "ballast/models/family.hpp"
#include "ballast/models/sd/declared_config.hpp"
#include "ballast/models/sd/parameter_list.hpp"

namespace ballast::models::sd {
namespace {

constexpr std::array<std::string_view, 3> kPrefixes{"first_stage_model.", "vae.", ""};
constexpr std::array<std::string_view, 4> kComplete{"encoder.", "decoder.", "quant_conv.",
                                                    "post_quant_conv."};
constexpr std::string_view kTelltale = "decoder.conv_in.weight";
/// Each level halves the picture; more would not leave a cell of any picture.
constexpr std::size_t kMostLevels = 8;

class VaeParameters : public ParameterList {
public:
    void residual(const std::string& path, std::int64_t in, std::int64_t out) {
        norm(path + ".norm1", in);
        conv(path + ".conv1", in, out);
        norm(path + ".norm2", out);
        conv(path + ".conv2", out, out);
        if (in != out) linear(path + ".nin_shortcut", in, out);
    }
    void middle(const std::string& path, std::int64_t width) {
        residual(path + ".block_1", width, width);
        norm(path + ".attn_1.norm", width);
        for (const auto* part : {"q", "k", "v", "proj_out"})
            linear(fmt::format("{}.attn_1.{}", path, part), width, width);
        residual(path + ".block_2", width, width);
    }
};

Result<VaeConfig> detect(const Component& vae) {
    VaeConfig config;
    config.has_encoder = vae.has("encoder.conv_in.weight");
    const auto ch = config.has_encoder ? vae.size("encoder.conv_in.weight", 4, 0)
                                       : vae.size("decoder.conv_out.weight", 4, 1);
    if (!ch) return fail(ch.error());
    const auto z = vae.size(kTelltale, 4, 1);
    if (!z) return fail(z.error());
    config.ch = *ch;
    config.z_channels = *z;
    config.embed_dim = *z;
    config.has_quant_convs = vae.has("post_quant_conv.weight");
    if (config.has_quant_convs) {
        const auto* conv = vae.find("post_quant_conv.weight");
        const auto embed = vae.size("post_quant_conv.weight", conv->shape.size() == 2 ? 2 : 4, 1);
        if (!embed) return fail(embed.error());
        config.embed_dim = *embed;
    }

    const auto levels = vae.count("decoder.up.", ".block.0.conv1.weight");
    if (levels < 1 || static_cast<std::size_t>(levels) > kMostLevels)
        return fail(vae.error(Code::corrupt_file, "decoder.up",
                              fmt::format("{} levels, expected 1 to {}", levels, kMostLevels)));
    config.ch_mult.clear();
    for (int i = 0; i < levels; ++i) {
        const auto name = fmt::format("decoder.up.{}.block.0.conv1.weight", i);
        const auto width = vae.size(name, 4, 0);
        if (!width) return fail(width.error());
        if (*width % *ch != 0)
            return fail(vae.error(Code::corrupt_file, name,
                                  fmt::format("{} channels are no multiple of {}", *width, *ch)));
        config.ch_mult.push_back(*width / *ch);
    }
    config.num_res_blocks = vae.count("decoder.up.0.block.", ".conv1.weight") - 1;
    if (config.num_res_blocks < 1)
        return fail(vae.error(Code::corrupt_file, "decoder.up.0.block.1.conv1.weight",
                              "the tensor is missing"));
    return config;
}

std::vector<DeclaredNumbers> numbers(const VaeConfig& config) {
    return {{"vae.ch", {config.ch}},
            {"vae.ch_mult", config.ch_mult},
            {"vae.num_res_blocks", {config.num_res_blocks}},
            {"vae.z_channels", {config.z_channels}},
            {"vae.embed_dim", {config.embed_dim}}};
}

Result<void> check_groups(const Component& vae, const VaeConfig& config) {
    for (const auto mult : config.ch_mult)
        if (const auto width = config.ch * mult; !config.norm_groups.fits(width))
            return fail(vae.error(Code::unsupported, "",
                                  fmt::format("{} channels cannot be normalised in {} groups",
                                              width, config.norm_groups.of(width))));
    if (!config.norm_groups.fits(config.ch))
        return fail(vae.error(Code::unsupported, "",
                              fmt::format("{} channels cannot be normalised in {} groups",
                                          config.ch, config.norm_groups.of(config.ch))));
    return {};
}

}  // namespace

std::vector<Parameter> parameters(const VaeConfig& config) {
    VaeParameters list;
    const auto levels = config.ch_mult.size();
    auto width = config.ch;
    if (config.has_encoder) {
        list.conv("encoder.conv_in", 3, width);
        for (std::size_t level = 0; level < levels; ++level) {
            for (int i = 0; i < config.num_res_blocks; ++i) {
                const auto out = config.ch * config.ch_mult[level];
                list.residual(fmt::format("encoder.down.{}.block.{}", level, i), width, out);
                width = out;
            }
            if (level + 1 < levels)
                list.conv(fmt::format("encoder.down.{}.downsample.conv", level), width, width);
        }
        list.middle("encoder.mid", width);
        list.norm("encoder.norm_out", width);
        list.conv("encoder.conv_out", width, 2 * config.z_channels);
    }

    width = config.ch * config.ch_mult.back();
    list.conv("decoder.conv_in", config.z_channels, width);
    list.middle("decoder.mid", width);
    for (std::size_t level = levels; level-- > 0;) {
        for (int i = 0; i <= config.num_res_blocks; ++i) {
            const auto out = config.ch * config.ch_mult[level];
            list.residual(fmt::format("decoder.up.{}.block.{}", level, i), width, out);
            width = out;
        }
        if (level > 0) list.conv(fmt::format("decoder.up.{}.upsample.conv", level), width, width);
    }
    list.norm("decoder.norm_out", width);
    list.conv("decoder.conv_out", width, 3);

    if (config.has_quant_convs) {
        if (config.has_encoder)
            list.linear("quant_conv", 2 * config.z_channels, 2 * config.embed_dim);
        list.linear("post_quant_conv", config.embed_dim, config.z_channels);
    }
    return list.take();
}

Result<VaeDescription> describe_vae(const formats::TensorDirectory& directory) {
    if (auto ok = require_sd1(directory); !ok) return fail(ok.error());
    const auto prefix = find_prefix(directory, kPrefixes, kTelltale);
    const Component vae(directory, prefix.value_or(""), "autoencoder");
    if (!prefix)
        return fail(vae.error(Code::not_found, "", "the file holds no autoencoder",
                              "load the autoencoder from a file of its own with VAELoader"));
    const auto declared = declared_config(directory);
    if (!declared) return fail(declared.error());
    auto config = detect(vae);
    if (!config) return fail(config.error());
    config->norm_groups = declared->norm_groups.value_or(NormGroups{});
    if (auto ok = require_agreement(directory, *declared, numbers(*config)); !ok)
        return fail(ok.error());
    if (auto ok = check_groups(vae, *config); !ok) return fail(ok.error());
    auto table = vae.blocks(parameters(*config), kComplete);
    if (!table) return fail(table.error());
    return VaeDescription{*std::move(config), *std::move(table)};
}

}  // namespace ballast::models::sd
