#pragma once
// Networks with their weights, as loader nodes make them and links share them.

#include <memory>

#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"
#include "ballast/runtime/networks/sd/unet.hpp"
#include "ballast/runtime/nodes/loaded_part.hpp"
#include "ballast/runtime/text/clip_text_model.hpp"
#include "ballast/runtime/vae/vae.hpp"

namespace ballast::runtime::nodes {

struct UNetModel {
    models::sd::UNetConfig config;
    networks::sd::UNet network;
    std::shared_ptr<LoadedPart> part;
};

struct TextModel {
    models::sd::ClipConfig config;
    text::ClipTextModel network;
    std::shared_ptr<LoadedPart> part;
};

struct VaeModel {
    models::sd::VaeConfig config;
    vae::Vae network;
    std::shared_ptr<LoadedPart> part;
};

}  // namespace ballast::runtime::nodes
