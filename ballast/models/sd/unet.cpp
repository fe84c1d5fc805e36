#include "ballast/models/sd/unet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/models/family.hpp"
#include "ballast/models/sd/declared_config.hpp"
#include "ballast/models/sd/parameter_list.hpp"

namespace ballast::models::sd {
namespace {

constexpr std::array<std::string_view, 3> kPrefixes{"model.diffusion_model.", "diffusion_model.",
                                                    ""};
/// Everything below these belongs to the network's arithmetic.
constexpr std::array<std::string_view, 6> kComplete{
    "time_embed.", "label_emb.", "input_blocks.", "middle_block.", "output_blocks.", "out."};

class UNetParameters : public ParameterList {
public:
    explicit UNetParameters(const UNetConfig& config)
        : embed_(4 * config.model_channels), context_(config.context_dim) {}

    void residual(const std::string& path, std::int64_t in, std::int64_t out) {
        norm(path + ".in_layers.0", in);
        conv(path + ".in_layers.2", in, out);
        linear(path + ".emb_layers.1", embed_, out);
        norm(path + ".out_layers.0", out);
        conv(path + ".out_layers.3", out, out);
        if (in != out) linear(path + ".skip_connection", in, out);
    }

    void attention(const std::string& path, std::int64_t width, std::int64_t context) {
        projection(path + ".to_q", width, width);
        projection(path + ".to_k", context, width);
        projection(path + ".to_v", context, width);
        linear(path + ".to_out.0", width, width);
    }

    void transformer(const std::string& path, std::int64_t width, int depth) {
        norm(path + ".norm", width);
        linear(path + ".proj_in", width, width);
        for (int i = 0; i < depth; ++i) {
            const auto block = fmt::format("{}.transformer_blocks.{}", path, i);
            attention(block + ".attn1", width, width);
            linear(block + ".ff.net.0.proj", width, 8 * width);
            linear(block + ".ff.net.2", 4 * width, width);
            attention(block + ".attn2", width, context_);
            norm(block + ".norm1", width);
            norm(block + ".norm2", width);
            norm(block + ".norm3", width);
        }
        linear(path + ".proj_out", width, width);
    }

    void stage(const UNetStage& stage) {
        const auto part = [&stage](int i) { return fmt::format("{}.{}", stage.path, i); };
        switch (stage.kind) {
            case UNetStage::Kind::convolution:
                conv(part(0), stage.in_channels, stage.out_channels);
                return;
            case UNetStage::Kind::downsampling:
                conv(part(0) + ".op", stage.in_channels, stage.out_channels);
                return;
            case UNetStage::Kind::residual: break;
        }
        int next = 0;
        residual(part(next++), stage.in_channels + stage.skip_channels, stage.out_channels);
        if (stage.depth > 0) transformer(part(next++), stage.out_channels, stage.depth);
        if (stage.then == UNetStage::Then::upsampling)
            conv(part(next) + ".conv", stage.out_channels, stage.out_channels);
    }

private:
    std::int64_t embed_;
    std::int64_t context_;
};

/// Reads widths and depths off the tensors.
class Detector {
public:
    explicit Detector(const Component& network) : network_(&network) {}

    Result<UNetConfig> run() {
        config_.channel_mult.clear();
        config_.num_res_blocks.clear();
        config_.transformer_depth.clear();
        config_.transformer_depth_output.clear();
        return first_and_last()
            .and_then([this] { return way_down(); })
            .and_then([this] { return middle(); })
            .and_then([this] { return way_up(); })
            .map([this] { return config_; });
    }

private:
    Result<void> first_and_last() {
        const auto width = network_->size("input_blocks.0.0.weight", 4, 0);
        if (!width) return fail(width.error());
        const auto in = network_->size("input_blocks.0.0.weight", 4, 1);
        if (!in) return fail(in.error());
        const auto out = network_->size("out.2.weight", 4, 0);
        if (!out) return fail(out.error());
        config_.model_channels = *width;
        config_.in_channels = *in;
        config_.out_channels = *out;
        if (*in != 4 || *out != 4)
            return fail(network_->error(
                Code::unsupported, "input_blocks.0.0.weight",
                fmt::format("the network takes {} channels and returns {}; Ballast runs those "
                            "with 4 and 4 so far{}",
                            *in, *out, *in == 9 ? " (this one is made for inpainting)" : "")));
        return {};
    }

    Result<void> way_down() {
        bool is_new_level = true;
        const int last = last_index("input_blocks.");  // looks at every name of the file
        for (int i = 1; i <= last; ++i) {
            const auto path = fmt::format("input_blocks.{}", i);
            if (network_->has(path + ".0.op.weight")) {
                if (is_new_level) return fail(inconsistent(path + ".0.op.weight"));
                is_new_level = true;
                continue;
            }
            const auto width = network_->size(path + ".0.in_layers.2.weight", 4, 0);
            if (!width) return fail(width.error());
            if (*width % config_.model_channels != 0)
                return fail(inconsistent(path + ".0.in_layers.2.weight"));
            const auto mult = *width / config_.model_channels;
            if (is_new_level) {
                // the last convolution takes the width of level 0 and that of the first convolution
                if (config_.channel_mult.empty() && mult != 1)
                    return fail(inconsistent(path + ".0.in_layers.2.weight"));
                config_.channel_mult.push_back(mult);
                config_.num_res_blocks.push_back(0);
                is_new_level = false;
            } else if (mult != config_.channel_mult.back()) {
                return fail(inconsistent(path + ".0.in_layers.2.weight"));
            }
            ++config_.num_res_blocks.back();
            config_.transformer_depth.push_back(depth(path + ".1"));
        }
        if (is_new_level)
            return fail(network_->error(Code::corrupt_file, "input_blocks",
                                        "the way down ends without a residual block"));
        return {};
    }

    Result<void> middle() {
        config_.transformer_depth_middle = depth("middle_block.1");
        const auto context =
            network_->size("middle_block.1.transformer_blocks.0.attn2.to_k.weight", 2, 1);
        if (!context) return fail(context.error());
        config_.context_dim = *context;
        return {};
    }

    Result<void> way_up() {
        int expected = 0;
        for (const int blocks : config_.num_res_blocks) expected += blocks + 1;
        for (int i = expected - 1; i >= 0; --i)
            config_.transformer_depth_output.push_back(depth(fmt::format("output_blocks.{}.1", i)));
        return {};
    }

    /// Number of transformer blocks of the module at `path`.
    [[nodiscard]] int depth(const std::string& path) const {
        return network_->count(path + ".transformer_blocks.", ".norm1.weight");
    }

    /// The largest N of all names "<list>N. ...", -1 if there is none. Longer numbers than any
    /// network has do not count.
    [[nodiscard]] int last_index(std::string_view list) const {
        int last = -1;
        for (const auto& entry : network_->directory().entries()) {
            std::string_view name = entry.name;
            if (!name.starts_with(network_->prefix())) continue;
            name.remove_prefix(network_->prefix().size());
            if (!name.starts_with(list)) continue;
            name.remove_prefix(list.size());
            int value = 0;
            std::size_t digits = 0;
            while (digits < name.size() && digits < 4 && is_digit(name[digits]))
                value = 10 * value + (name[digits++] - '0');
            if (digits > 0 && digits < name.size() && name[digits] == '.')
                last = std::max(last, value);
        }
        return last;
    }

    [[nodiscard]] Error inconsistent(const std::string& name) const {
        return network_->error(Code::corrupt_file, name,
                               "the levels do not follow the order of an SD 1.x network");
    }

    const Component* network_;
    UNetConfig config_;
};

template <typename T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

std::vector<DeclaredNumbers> numbers(const UNetConfig& config) {
    return {{"unet.in_channels", {config.in_channels}},
            {"unet.out_channels", {config.out_channels}},
            {"unet.model_channels", {config.model_channels}},
            {"unet.channel_mult", config.channel_mult},
            {"unet.num_res_blocks", widened(config.num_res_blocks)},
            {"unet.transformer_depth", widened(config.transformer_depth)},
            {"unet.transformer_depth_middle", {config.transformer_depth_middle}},
            {"unet.transformer_depth_output", widened(config.transformer_depth_output)},
            {"unet.context_dim", {config.context_dim}}};
}

/// Head count and group count must divide the widths that they are used with.
Result<void> check_divisors(const Component& network, const UNetConfig& config) {
    const auto stages = layout(config);
    const auto check = [&](const std::string& path, std::int64_t in, std::int64_t out,
                           int depth) -> Result<void> {
        if (!config.norm_groups.fits(in) || !config.norm_groups.fits(out))
            return fail(network.error(
                Code::unsupported, path,
                fmt::format("{} and {} channels cannot be normalised in {} and {} groups", in, out,
                            config.norm_groups.of(in), config.norm_groups.of(out))));
        if (depth > 0 && out % config.num_heads != 0)
            return fail(
                network.error(Code::unsupported, path,
                              fmt::format("{} channels do not divide into {} attention heads", out,
                                          config.num_heads)));
        return {};
    };
    for (const auto* side : {&stages.input, &stages.output})
        for (const auto& stage : *side)
            if (stage.kind == UNetStage::Kind::residual)
                if (auto ok = check(stage.path, stage.in_channels + stage.skip_channels,
                                    stage.out_channels, stage.depth);
                    !ok)
                    return ok;
    return check("middle_block", stages.middle_channels, stages.middle_channels,
                 stages.middle_depth);
}

}  // namespace

UNetLayout layout(const UNetConfig& config) {
    UNetLayout stages;
    auto channels = config.model_channels;
    std::vector<std::int64_t> skips{channels};
    const auto input_path = [&stages] {
        return fmt::format("input_blocks.{}", stages.input.size());
    };
    stages.input.push_back({.path = input_path(),
                            .kind = UNetStage::Kind::convolution,
                            .in_channels = config.in_channels,
                            .out_channels = channels});
    std::size_t index = 0;
    for (std::size_t level = 0; level < config.channel_mult.size(); ++level) {
        const auto width = config.model_channels * config.channel_mult[level];
        for (int i = 0; i < config.num_res_blocks[level]; ++i) {
            stages.input.push_back({.path = input_path(),
                                    .in_channels = channels,
                                    .out_channels = width,
                                    .depth = config.transformer_depth[index++]});
            channels = width;
            skips.push_back(channels);
        }
        if (level + 1 == config.channel_mult.size()) break;
        stages.input.push_back({.path = input_path(),
                                .kind = UNetStage::Kind::downsampling,
                                .in_channels = channels,
                                .out_channels = channels});
        skips.push_back(channels);
    }
    stages.middle_channels = channels;
    stages.middle_depth = config.transformer_depth_middle;

    index = config.transformer_depth_output.size();
    for (std::size_t level = config.channel_mult.size(); level-- > 0;) {
        const auto width = config.model_channels * config.channel_mult[level];
        for (int i = 0; i <= config.num_res_blocks[level]; ++i) {
            const bool is_last = i == config.num_res_blocks[level] && level > 0;
            stages.output.push_back(
                {.path = fmt::format("output_blocks.{}", stages.output.size()),
                 .in_channels = channels,
                 .skip_channels = skips.back(),
                 .out_channels = width,
                 .depth = config.transformer_depth_output[--index],
                 .then = is_last ? UNetStage::Then::upsampling : UNetStage::Then::nothing});
            skips.pop_back();
            channels = width;
        }
    }
    return stages;
}

std::vector<Parameter> parameters(const UNetConfig& config) {
    const auto stages = layout(config);
    const auto embed = 4 * config.model_channels;
    UNetParameters list(config);
    list.linear("time_embed.0", config.model_channels, embed);
    list.linear("time_embed.2", embed, embed);
    for (const auto& stage : stages.input) list.stage(stage);
    list.residual("middle_block.0", stages.middle_channels, stages.middle_channels);
    list.transformer("middle_block.1", stages.middle_channels, stages.middle_depth);
    list.residual("middle_block.2", stages.middle_channels, stages.middle_channels);
    for (const auto& stage : stages.output) list.stage(stage);
    list.norm("out.0", config.model_channels);
    list.conv("out.2", config.model_channels, config.out_channels);
    return list.take();
}

Result<UNetDescription> describe_unet(const formats::TensorDirectory& directory) {
    if (auto ok = require_sd1(directory); !ok) return fail(ok.error());
    auto prefix = find_prefix(directory, kPrefixes, "input_blocks.0.0.weight");
    if (!prefix) prefix = find_prefix(directory, kPrefixes, "middle_block.0.in_layers.0.weight");
    const Component network(directory, prefix.value_or(""), "diffusion network");
    if (!prefix)
        return fail(
            network.error(Code::not_found, "", "the file holds no diffusion network",
                          "load this file with the loader of its kind, or choose another file"));
    const auto declared = declared_config(directory);
    if (!declared) return fail(declared.error());
    auto config = Detector(network).run();
    if (!config) return fail(config.error());
    config->num_heads = declared->unet_heads.value_or(UNetConfig{}.num_heads);
    config->norm_groups = declared->norm_groups.value_or(NormGroups{});
    if (auto ok = require_agreement(directory, *declared, numbers(*config)); !ok)
        return fail(ok.error());
    if (auto ok = check_divisors(network, *config); !ok) return fail(ok.error());
    auto table = network.blocks(parameters(*config), kComplete);
    if (!table) return fail(table.error());
    return UNetDescription{*std::move(config), *std::move(table)};
}

}  // namespace ballast::models::sd
