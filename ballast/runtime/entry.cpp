// The one symbol that the runtime library exports.

#include "ballast/runtime/nodes/session.hpp"

extern "C" __attribute__((visibility("default"))) ballast::graph::Runtime* ballast_open_runtime(
    std::uint32_t interface_number, const ballast::graph::RuntimeOptions& options,
    ballast::Error* error) {
    using namespace ballast;
    // options and error of another interface may be laid out in another way: neither is touched
    if (interface_number != graph::kRuntimeInterface) return nullptr;
    auto session = runtime::guarded("cannot start the runtime", [&] {
        return std::make_unique<runtime::nodes::Session>(options);
    });
    if (session) return session->release();
    if (error != nullptr) *error = std::move(session).error();
    return nullptr;
}
