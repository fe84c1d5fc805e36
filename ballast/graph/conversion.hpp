#pragma once
// Constants of a workflow in the type that the node declares.

#include <string>

#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph {

/// A constant after conversion, or why it has none.
using Converted = tl::expected<Json, std::string>;

/// INT: numbers lose their fraction, truth values become 0 and 1, text may hold a whole number with
/// sign and blanks. What 64 bits cannot hold comes back as a floating-point number of that size,
/// for the range check to refuse.
Converted to_integer(const Json& value);

/// FLOAT: any number, truth values, text that holds a number. Never NaN; infinity becomes the
/// largest finite number.
Converted to_number(const Json& value);

/// STRING: anything, as Python's str() writes it.
Converted to_text(const Json& value);

/// BOOLEAN: false, zero, null and whatever is empty are false.
Converted to_flag(const Json& value);

/// `value` as `input` wants it. Choices stay as they are, but for a device called none.
Converted converted(const Json& value, const InputDeclaration& input);

/// The order of an integer as `to_integer` returns it and a bound.
std::strong_ordering compare(const Json& integer, WholeNumber bound);

}  // namespace ballast::graph
