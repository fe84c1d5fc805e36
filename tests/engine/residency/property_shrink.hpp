#pragma once
// From a sequence of steps that fails to a short one that fails: parts are left out, halves first,
// then numbers made smaller, until neither helps.

#include <algorithm>
#include <cstddef>
#include <functional>

#include "tests/engine/residency/property_steps.hpp"

namespace ballast::residency::property {

using Fails = std::function<bool(const Steps&)>;

/// Leaves out what the failure does not need, in pieces of a half, a quarter, down to one step.
inline bool leave_out(Steps& steps, const Fails& fails) {
    bool is_shorter = false;
    for (auto piece = std::max<std::size_t>(steps.size() / 2, 1); piece > 0; piece /= 2)
        for (std::size_t at = 0; at < steps.size();) {
            auto fewer = steps;
            const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
            const auto count = std::min(piece, steps.size() - at);
            fewer.erase(first, first + static_cast<std::ptrdiff_t>(count));
            if (fails(fewer)) {
                steps = std::move(fewer);
                is_shorter = true;
            } else {
                at += piece;
            }
        }
    return is_shorter;
}

/// Makes each number zero, half of it, or one less.
inline bool simplify(Steps& steps, const Fails& fails) {
    bool is_simpler = false;
    for (auto& step : steps)
        for (auto& number : step.numbers)
            for (bool was_tried = false; number > 0 && !was_tried;) {
                const auto former = number;
                was_tried = true;
                for (const auto smaller : {0U, former / 2, former - 1}) {
                    number = smaller;
                    if (fails(steps)) {
                        is_simpler = true;
                        was_tried = false;
                        break;
                    }
                    number = former;
                }
            }
    return is_simpler;
}

/// `steps` fail. The result fails too, and no longer does without any one of its steps.
inline Steps shrunk(Steps steps, const Fails& fails) {
    while (leave_out(steps, fails) || simplify(steps, fails)) continue;
    return steps;
}

}  // namespace ballast::residency::property
