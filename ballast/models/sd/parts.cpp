#include "ballast/models/sd/parts.hpp"

#include <utility>

#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/clip_costs.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/unet_costs.hpp"
#include "ballast/models/sd/vae.hpp"
#include "ballast/models/sd/vae_costs.hpp"

namespace ballast::models::sd {
namespace {

template <typename Description>
Result<plan::BlockTable> table_of(Result<Description> description) {
    if (!description) return fail(std::move(description).error());
    return std::move(description->table);
}

template <typename Description, typename Config>
Result<StepCosts> costs_of(const Result<Description>& description,
                           Result<StepCosts> (*costs)(const Config&, const plan::BlockTable&,
                                                      const StepShape&),
                           const StepShape& shape) {
    if (!description) return fail(description.error());
    return costs(description->config, description->table, shape);
}

}  // namespace

Result<plan::BlockTable> unet_blocks(const formats::TensorDirectory& directory) {
    return table_of(describe_unet(directory));
}

Result<plan::BlockTable> clip_blocks(const formats::TensorDirectory& directory) {
    return table_of(describe_clip(directory));
}

Result<plan::BlockTable> vae_blocks(const formats::TensorDirectory& directory) {
    return table_of(describe_vae(directory));
}

Result<StepCosts> unet_costs(const formats::TensorDirectory& directory, const StepShape& shape) {
    return costs_of<UNetDescription, UNetConfig>(describe_unet(directory), unet_costs, shape);
}

Result<StepCosts> clip_costs(const formats::TensorDirectory& directory, const StepShape& shape) {
    return costs_of<ClipDescription, ClipConfig>(describe_clip(directory), clip_costs, shape);
}

Result<StepCosts> vae_costs(const formats::TensorDirectory& directory, const StepShape& shape) {
    return costs_of(describe_vae(directory), vae_decode_costs, shape);
}

const Part* part_of(std::string_view output_type) {
    for (const auto& part : kParts)
        if (part.output_type == output_type) return &part;
    return nullptr;
}

}  // namespace ballast::models::sd
