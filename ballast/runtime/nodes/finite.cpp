#include "ballast/runtime/nodes/finite.hpp"

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {

void FirstNonFinite::on_output(std::string_view module, const at::Tensor& output) {
    if (module_.empty() && !ops::is_finite(output)) module_ = module;
}

std::string non_finite_warning(const std::string& part, const FirstNonFinite& found) {
    const auto where = found.module().empty()
                           ? std::string(" behind its last layer")
                           : "; the first layer with such an output is " + found.module();
    return part + " gives values that are not numbers" + where +
           ". The picture will be black; the file may be damaged, or its weights need fp32";
}

}  // namespace ballast::runtime::nodes
