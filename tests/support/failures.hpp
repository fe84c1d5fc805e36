#pragma once
// What a piece of arithmetic failed with.

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::testing {

/// The error that `work` throws as a `Failure`; nothing if it succeeds.
inline std::optional<Error> error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const runtime::Failure& failure) {
        return failure.error();
    }
    return std::nullopt;
}

inline std::optional<Code> code_of(const std::function<void()>& work) {
    const auto error = error_of(work);
    return error ? std::optional(error->code) : std::nullopt;
}

}  // namespace ballast::testing
