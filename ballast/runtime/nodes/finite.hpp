#pragma once
// Finding the layer that first produced something that is not a number.

#include <functional>
#include <string>

#include "ballast/runtime/nn/forward.hpp"

namespace ballast::runtime::nodes {

/// Remembers the first module whose output is not finite.
class FirstNonFinite final : public nn::LayerListener {
public:
    void on_output(std::string_view module, const at::Tensor& output) override;
    [[nodiscard]] const std::string& module() const { return module_; }

private:
    std::string module_;
};

/// The sentence for the user: which layer of what it was.
std::string non_finite_warning(const std::string& part, const FirstNonFinite& found);

}  // namespace ballast::runtime::nodes
