#pragma once
// How much memory a piece of code asks for: hostile input must not make us allocate more than it
// is itself in proportion to. Works in test programs that compile allocation_watch.cpp.

#include <cstddef>

namespace ballast::testing {

/// Watches what this thread allocates with `new` from construction on.
class AllocationWatch {
public:
    AllocationWatch();

    /// The largest single request.
    [[nodiscard]] std::size_t largest() const;
    /// The most that was held at once beyond what was held at construction.
    [[nodiscard]] std::size_t peak() const;
};

}  // namespace ballast::testing
