#include "ballast/runtime/nodes/shortage.hpp"

#include <fmt/format.h>

#include "ballast/runtime/nodes/session.hpp"

namespace ballast::runtime::nodes {

void tell_shortage(const Context& context, const std::string& how, const std::string& why) {
    const auto text = fmt::format("memory ran out; trying again {} ({})", how, why);
    context.observer.warning(text);
    const auto released = trim_host_memory();
    context.session.log().info(
        fmt::format("{}; gave back {} kept for reuse", text, to_string(released)));
}

}  // namespace ballast::runtime::nodes
