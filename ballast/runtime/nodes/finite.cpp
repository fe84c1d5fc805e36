#include "ballast/runtime/nodes/finite.hpp"

#include <fmt/format.h>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {

void FirstNonFinite::on_output(std::string_view module, const at::Tensor& output) {
    if (module_.empty() && !ops::is_finite(output)) module_ = module;
}

void explain_non_finite(const Context& context, const std::string& part,
                        const std::function<void(nn::LayerListener&)>& repeat) {
    FirstNonFinite first;
    const auto repeated = guarded("cannot look for the layer", [&] { repeat(first); });
    if (!repeated && repeated.error().code == Code::interrupted) throw Failure(repeated.error());
    std::string where = " behind its last layer";
    if (!first.module().empty())
        where = "; the first layer with such an output is " + first.module();
    else if (!repeated)
        where = fmt::format("; which layer it was stays unknown ({})", repeated.error().why);
    context.observer.warning(
        fmt::format("{} gives values that are not numbers{}. The picture will be black; the file "
                    "may be damaged, or its weights need fp32",
                    part, where));
}

}  // namespace ballast::runtime::nodes
