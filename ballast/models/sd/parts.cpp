#include "ballast/models/sd/parts.hpp"

#include <utility>

#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"

namespace ballast::models::sd {
namespace {

template <typename Description>
Result<plan::BlockTable> table_of(Result<Description> description) {
    if (!description) return fail(std::move(description).error());
    return std::move(description->table);
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

const Part* part_of(std::string_view output_type) {
    for (const auto& part : kParts)
        if (part.output_type == output_type) return &part;
    return nullptr;
}

}  // namespace ballast::models::sd
