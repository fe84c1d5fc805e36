#pragma once
// Doing the same thing in ways that need less and less memory.

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::nodes {

/// Says that memory ran out (`why`) and that the work is tried again `how` ("in tiles"), and gives
/// back what is only kept for reuse.
void tell_shortage(const Context& context, const std::string& how, const std::string& why);

/// A result and the way that led to it.
template <typename T, typename Way>
struct Outcome {
    T result;
    Way way;
};

/// `work(way)` for the first of `ways` for which memory suffices, be it the plan, the limit or the
/// system that refuses. A way has a member `how` for the user. All other failures, and that of the
/// last way, pass through.
template <typename Way, typename Work>
auto first_that_fits(const Context& context, const std::vector<Way>& ways, const Work& work) {
    using Done = Outcome<std::invoke_result_t<const Work&, const Way&>, Way>;
    for (std::size_t i = 0;; ++i) {
        std::string why;
        try {
            return Done{work(ways[i]), ways[i]};
        } catch (...) {
            const auto error = current_error("cannot compute");
            const bool is_shortage =
                error.code == Code::out_of_memory || error.code == Code::does_not_fit;
            if (!is_shortage || i + 1 == ways.size()) throw;
            why = error.why;
        }
        // outside the handler: what the failed attempt held is released by now
        tell_shortage(context, ways[i + 1].how, why);
    }
}

}  // namespace ballast::runtime::nodes
