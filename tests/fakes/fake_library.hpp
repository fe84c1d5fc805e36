#pragma once
// A driver library of tests: opened by its path, with answers that the test sets.

#include <string>
#include <vector>

#include "ballast/engine/machine/discovery/shared_library.hpp"

namespace ballast::testing {

/// Each fake exports `fake_control`, which gives the structure of its answers. They begin with
/// their defaults for every test.
template <typename Control>
class FakeLibrary {
public:
    explicit FakeLibrary(const char* path)
        : names_{path},
          library_(machine::SharedLibrary::open(names_).value()),
          control_(library_.find<Control*()>("fake_control")()) {
        *control_ = {};
    }

    Control* operator->() { return control_; }
    /// For functions that take the names of a library.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
    std::vector<std::string> names_;
    machine::SharedLibrary library_;
    Control* control_;
};

}  // namespace ballast::testing
