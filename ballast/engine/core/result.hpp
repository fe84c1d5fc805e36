#pragma once
// The result type of everything that can fail in an expected way.

#include <tl/expected.hpp>

#include "ballast/engine/core/error.hpp"

namespace ballast {

template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail(error);` ends a function that returns any `Result`.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace ballast
