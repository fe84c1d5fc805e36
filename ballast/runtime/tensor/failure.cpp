#include "ballast/runtime/tensor/failure.hpp"

#include <c10/util/Exception.h>

#include <cstdint>
#include <new>

namespace ballast::runtime {
namespace {

/// What a driver's error number means, as CUDA and ROCm number them.
Code code_of_driver(std::int32_t number) {
    constexpr std::int32_t kInvalidValue = 1;
    constexpr std::int32_t kOutOfMemory = 2;
    constexpr std::int32_t kInvalidDevice = 101;
    switch (number) {
        case kOutOfMemory: return Code::out_of_memory;
        case kInvalidValue:
        case kInvalidDevice: return Code::internal;
        default: return Code::device_lost;  // all further calls fail as well
    }
}

Error driver_error(const std::string& what, const c10::AcceleratorError& error) {
    Error told{.code = code_of_driver(error.get_error_code()),
               .what = what,
               .why = error.what_without_backtrace()};
    if (told.code == Code::out_of_memory)
        told.hint = "use a smaller picture or batch, or close other programs";
    if (told.code == Code::device_lost)
        told.hint = "start Ballast again; if it fails again, look into the system's log";
    return told;
}

}  // namespace

Error current_error(const std::string& what) {
    try {
        throw;
    } catch (const Failure& failure) {
        return failure.error();
    } catch (const c10::OutOfMemoryError& error) {
        return Error{.code = Code::out_of_memory,
                     .what = what,
                     .why = error.what_without_backtrace(),
                     .hint = "use a smaller picture or batch, or raise the memory limit"};
    } catch (const c10::AcceleratorError& error) {
        return driver_error(what, error);
    } catch (const std::bad_alloc&) {
        return Error{.code = Code::out_of_memory,
                     .what = what,
                     .why = "the system refused more memory",
                     .hint = "use a smaller picture or batch, or close other programs"};
    } catch (const c10::Error& error) {
        return Error{.code = Code::internal, .what = what, .why = error.what_without_backtrace()};
    } catch (const std::exception& error) {
        return Error{.code = Code::internal, .what = what, .why = error.what()};
    } catch (...) {
        return Error{.code = Code::internal, .what = what, .why = "unknown exception"};
    }
}

}  // namespace ballast::runtime
