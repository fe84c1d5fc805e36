#pragma once
// What flows along the links of a workflow, opaque to everything but the nodes.

#include <memory>

#include "ballast/engine/core/bytes.hpp"

namespace ballast::graph {

/// A result of a node: a latent, a picture, a handle on a model. Immutable once returned, shared by
/// all consumers and by the result cache. The runtime derives its own types.
class Value {
public:
    Value() = default;
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    virtual ~Value() = default;

    /// What a cache that keeps this value is charged for. Weights count as zero: they are charged
    /// where they are loaded, although dropping the last handle on a model frees them, too.
    [[nodiscard]] virtual Bytes bytes() const = 0;
};

using ValuePtr = std::shared_ptr<const Value>;

}  // namespace ballast::graph
