// Asks the engine for more memory than a limit allows, and prints how it refuses.

#include <iostream>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/device/ledger.hpp"

int main() {
    using namespace ballast::literals;
    const auto limit = ballast::parse_bytes("1.5 GiB");
    if (!limit) return 1;

    ballast::device::Ledger ledger;
    ledger.set_limit(ballast::kCpu, *limit);
    const auto granted = ledger.reserve(ballast::kCpu, 1_GiB, ballast::device::Tag::weights);
    if (!granted) return 1;

    const auto refused = ledger.reserve(ballast::kCpu, 1_GiB, ballast::device::Tag::activations);
    if (refused) return 1;
    std::cout << to_string(refused.error()) << '\n';
    return refused.error().code == ballast::Code::does_not_fit ? 0 : 1;
}
