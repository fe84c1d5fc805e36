#include "ballast/runtime/tensor/failure.hpp"

#include <c10/util/Exception.h>

#include <new>

namespace ballast::runtime {

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
