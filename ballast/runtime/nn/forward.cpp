#include "ballast/runtime/nn/forward.hpp"

namespace ballast::runtime::nn {

void Forward::check_stop() const {
    if (stop_ == nullptr || !stop_->stop_requested()) return;
    throw Failure(Error{.code = Code::interrupted, .what = "stopped", .why = "on request"});
}

}  // namespace ballast::runtime::nn
