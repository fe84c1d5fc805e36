// A runtime library that computes on the processor only, as one whose libtorch knows no
// accelerators. It runs nothing.

#include "ballast/graph/runtime.hpp"

namespace {

using namespace ballast;

class ProcessorOnly final : public graph::Runtime {
public:
    Result<graph::NodeResult> run(const graph::NodeCall& /*call*/,
                                  graph::NodeObserver& /*observer*/) override {
        return fail(Error{.code = Code::not_available, .what = "this runtime runs nothing"});
    }
    [[nodiscard]] graph::RuntimeReport report() const override { return {}; }
    void reset_report() override {}
    [[nodiscard]] std::vector<DeviceId> devices() const override { return {kCpu}; }
    [[nodiscard]] std::string version() const override { return "nothing"; }
};

}  // namespace

extern "C" ballast::graph::Runtime* ballast_open_runtime(
    std::uint32_t /*interface_number*/, const ballast::graph::RuntimeOptions& /*options*/,
    ballast::Error* /*error*/) {
    return new ProcessorOnly;
}
