#pragma once
// Finding the layer that first produced something that is not a number.

#include <functional>
#include <string>

#include "ballast/runtime/nn/forward.hpp"
#include "ballast/runtime/nodes/implementation.hpp"

namespace ballast::runtime::nodes {

/// Remembers the first module whose output is not finite.
class FirstNonFinite final : public nn::LayerListener {
public:
    void on_output(std::string_view module, const at::Tensor& output) override;
    [[nodiscard]] const std::string& module() const { return module_; }

private:
    std::string module_;
};

/// Tells which layer of `part` ("the network") it was. `repeat` does the work once more with the
/// listener that it gets; when that fails, for want of memory for example, only the layer stays
/// unknown. Throws `Failure` only when the user stops it.
void explain_non_finite(const Context& context, const std::string& part,
                        const std::function<void(nn::LayerListener&)>& repeat);

}  // namespace ballast::runtime::nodes
