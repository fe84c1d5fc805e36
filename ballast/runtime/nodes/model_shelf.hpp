#pragma once
// The parts of models that hold weights, least recently used first.

#include <vector>

#include "ballast/engine/residency/phase.hpp"

namespace ballast::runtime::nodes {

class LoadedPart;

/// For one thread. Parts put themselves here and take themselves away.
class ModelShelf {
public:
    /// `part` is used now: it becomes the last one.
    void touch(LoadedPart& part);
    void remove(LoadedPart& part);

    /// All but `besides`, in order.
    [[nodiscard]] std::vector<LoadedPart*> others(const LoadedPart& besides) const;
    [[nodiscard]] const std::vector<LoadedPart*>& all() const { return parts_; }

private:
    std::vector<LoadedPart*> parts_;
};

}  // namespace ballast::runtime::nodes
