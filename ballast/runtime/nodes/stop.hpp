#pragma once
// A node's observer as the stop check of its forward passes.

#include "ballast/graph/node_runner.hpp"
#include "ballast/runtime/nn/forward.hpp"

namespace ballast::runtime::nodes {

class ObservedStop final : public nn::StopCheck {
public:
    explicit ObservedStop(const graph::NodeObserver& observer) : observer_(&observer) {}
    [[nodiscard]] bool stop_requested() const override { return observer_->stop_requested(); }

private:
    const graph::NodeObserver* observer_;
};

}  // namespace ballast::runtime::nodes
