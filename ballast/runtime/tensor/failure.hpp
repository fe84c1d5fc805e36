#pragma once
// Expected failures inside arithmetic, and their way out of it.
//
// Networks and samplers are expressions over tensors, and torch reports its own failures by
// throwing. So inside the runtime an `Error` travels as an exception, too; `guarded` turns all of
// them back into values at the rim (a node, a command).

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "ballast/engine/core/result.hpp"

namespace ballast::runtime {

/// Carries an `Error` up to the nearest `guarded`.
class Failure final : public std::exception {
public:
    explicit Failure(Error error) : error_(std::move(error)), text_(to_string(error_)) {}
    [[nodiscard]] const Error& error() const { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    Error error_;
    std::string text_;
};

template <typename T>
T value_or_throw(Result<T> result) {
    if (!result) throw Failure(std::move(result).error());
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The exception being handled now as an `Error`; `what` names the thing that was attempted.
/// A refused allocation becomes `out_of_memory`, what a driver cannot recover from `device_lost`.
/// Call only inside a catch block.
Error current_error(const std::string& what);

/// Runs `work`, which returns a T or a Result<T>, and turns every exception into an `Error`.
template <typename F>
auto guarded(const std::string& what, F&& work) {
    using Returned = std::invoke_result_t<F>;
    if constexpr (requires { typename Returned::error_type; }) {
        try {
            return std::forward<F>(work)();
        } catch (...) {
            return Returned{fail(current_error(what))};
        }
    } else {
        try {
            if constexpr (std::is_void_v<Returned>) {
                std::forward<F>(work)();
                return Result<void>{};
            } else {
                return Result<Returned>{std::forward<F>(work)()};
            }
        } catch (...) {
            return Result<Returned>{fail(current_error(what))};
        }
    }
}

}  // namespace ballast::runtime
