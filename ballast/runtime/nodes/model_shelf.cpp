#include "ballast/runtime/nodes/model_shelf.hpp"

namespace ballast::runtime::nodes {

void ModelShelf::touch(LoadedPart& part) {
    remove(part);
    parts_.push_back(&part);
}

void ModelShelf::remove(LoadedPart& part) { std::erase(parts_, &part); }

std::vector<LoadedPart*> ModelShelf::others(const LoadedPart& besides) const {
    auto parts = parts_;
    std::erase(parts, &besides);
    return parts;
}

}  // namespace ballast::runtime::nodes
