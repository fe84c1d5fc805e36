#pragma once
// One part of the tiny golden checkpoint, ready to run, beside what the reference computed with it.

#include <string>
#include <type_traits>
#include <utility>

#include "tests/support/golden_networks.hpp"

namespace ballast::testing {

/// `describe` is the part's description in `models`, `Network` what the runtime builds from it,
/// `Part` where its weights are.
template <typename Network, auto describe, typename Part = ResidentPart>
struct TinyPart {
    using Description = typename std::invoke_result_t<decltype(describe),
                                                      const formats::TensorDirectory&>::value_type;

    /// `where` is for the part.
    template <typename... Where>
    explicit TinyPart(Where&&... where)
        : part(file, description.table, std::forward<Where>(where)...),
          network(Network::build(description.config, description.table)) {}

    /// Compares with the recorded tensor of that name, within its tolerance.
    void expect(const at::Tensor& actual, const std::string& name) {
        expect_close(actual, golden[name], tolerances[name], name);
    }

    std::string file = golden_network("sd15-tiny.safetensors");
    Description description =
        runtime::value_or_throw(describe(runtime::value_or_throw(formats::open_tensors(file))));
    Part part;
    Network network;
    GoldenTensors golden{golden_network("sd15-tiny.io.safetensors")};
    Tolerances tolerances{"sd15-tiny.io.safetensors"};
};

}  // namespace ballast::testing
