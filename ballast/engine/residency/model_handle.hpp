#pragma once
// The name of a loaded model.

#include <compare>
#include <cstdint>

namespace ballast::residency {

class Registry;

/// Names a loaded model, as the registry gave it out. Owns nothing: it is stale once the model has
/// gone, and no other model ever gets its number.
class ModelHandle {
public:
    ModelHandle() = default;
    [[nodiscard]] std::uint64_t id() const { return id_; }
    auto operator<=>(const ModelHandle&) const = default;

private:
    friend class Registry;
    explicit ModelHandle(std::uint64_t id) : id_(id) {}
    std::uint64_t id_ = 0;
};

}  // namespace ballast::residency
