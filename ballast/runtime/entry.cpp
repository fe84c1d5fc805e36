// The one symbol that the runtime library exports.

#include "ballast/runtime/nodes/session.hpp"

extern "C" __attribute__((visibility("default"))) ballast::graph::Runtime* ballast_open_runtime(
    std::uint32_t interface_number, const ballast::graph::RuntimeOptions& options,
    ballast::Error* error) {
    using namespace ballast;
    if (interface_number != graph::kRuntimeInterface) {
        if (error != nullptr)
            *error = {.code = Code::internal,
                      .what = "cannot start the runtime",
                      .why = "program and runtime library are of different versions",
                      .hint = "install both from the same build"};
        return nullptr;
    }
    auto session = runtime::guarded("cannot start the runtime", [&] {
        return std::make_unique<runtime::nodes::Session>(options);
    });
    if (session) return session->release();
    if (error != nullptr) *error = std::move(session).error();
    return nullptr;
}
