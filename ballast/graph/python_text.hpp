#pragma once
// Values as Python prints them. Details of faults that clients know, and conversions of constants
// to text, are defined by that.

#include <span>
#include <string>

#include "ballast/graph/json.hpp"

namespace ballast::graph {

/// str(): text as it is, 12, 1.5, True, None, {'a': 1}.
std::string python_str(const Json& value);

/// repr(): as `python_str`, but text in quotes, with control characters escaped.
std::string python_repr(const Json& value);

/// ['a', 'b'].
std::string python_list(std::span<const std::string> texts);

}  // namespace ballast::graph
