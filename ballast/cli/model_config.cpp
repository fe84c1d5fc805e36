#include "ballast/cli/model_config.hpp"

#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/parts.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"

namespace ballast::cli {
namespace {

namespace sd = models::sd;

Json to_json(const sd::NormGroups& groups) {
    return {{"max", groups.max}, {"channels_per_group", groups.channels_per_group}};
}

Json to_json(const sd::UNetConfig& config) {
    return {{"in_channels", config.in_channels},
            {"out_channels", config.out_channels},
            {"model_channels", config.model_channels},
            {"channel_mult", config.channel_mult},
            {"num_res_blocks", config.num_res_blocks},
            {"transformer_depth", config.transformer_depth},
            {"transformer_depth_middle", config.transformer_depth_middle},
            {"transformer_depth_output", config.transformer_depth_output},
            {"context_dim", config.context_dim},
            {"num_heads", config.num_heads},
            {"norm_groups", to_json(config.norm_groups)}};
}

Json to_json(const sd::ClipConfig& config) {
    return {{"hidden_size", config.hidden_size},
            {"num_attention_heads", config.num_attention_heads},
            {"num_hidden_layers", config.num_hidden_layers},
            {"intermediate_size", config.intermediate_size},
            {"max_positions", config.max_positions},
            {"token_rows", config.token_rows}};
}

Json to_json(const sd::VaeConfig& config) {
    return {{"ch", config.ch},
            {"ch_mult", config.ch_mult},
            {"num_res_blocks", config.num_res_blocks},
            {"z_channels", config.z_channels},
            {"embed_dim", config.embed_dim},
            {"has_encoder", config.has_encoder},
            {"norm_groups", to_json(config.norm_groups)}};
}

/// Adds one part to `config`, or says why the file's part cannot be used.
template <typename Description>
void add(Json& config, const sd::Part& part, const Result<Description>& description,
         std::vector<std::string>& warnings) {
    if (description)
        config[std::string(part.section)] = to_json(description->config);
    else if (description.error().code != Code::not_found)
        warnings.push_back(to_string(description.error()));
}

}  // namespace

Json model_config(const formats::TensorDirectory& directory, models::Family family,
                  std::vector<std::string>& warnings) {
    using models::Family;
    Json config = Json::object();
    if (family != Family::sd15 && family != Family::clip && family != Family::vae) return config;
    add(config, sd::kUNetPart, sd::describe_unet(directory), warnings);
    add(config, sd::kTextPart, sd::describe_clip(directory), warnings);
    add(config, sd::kVaePart, sd::describe_vae(directory), warnings);
    return config;
}

}  // namespace ballast::cli
