// Whatever somebody types as an allocation text: it is read into a policy that can be written and
// read again and places every block, or refused with a column, a reason and a remedy.
// Seeds: tests/fuzz/allocation_texts/*.txt

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ballast/engine/plan/distorch2.hpp"
#include "ballast/engine/plan/placement.hpp"

namespace {

using namespace ballast;
using namespace ballast::plan;

const AllocationContext& many_devices() {
    static const AllocationContext context{.devices = {{{DeviceKind::cuda, 0}, Bytes{24ULL << 30U}},
                                                       {{DeviceKind::cuda, 1}, Bytes{8ULL << 30U}},
                                                       {{DeviceKind::xpu, 0}, std::nullopt},
                                                       {{DeviceKind::mps, 0}, Bytes{16ULL << 30U}},
                                                       {kCpu, Bytes{64ULL << 30U}}},
                                           .compute = {DeviceKind::cuda, 0}};
    return context;
}

const std::vector<PlacementBlock>& model() {
    static const std::vector<PlacementBlock> blocks{
        {.name = "token_embedding", .bytes = Bytes{1ULL << 29U}},
        {.name = "a", .bytes = Bytes{1ULL << 60U}},
        {.name = "b", .bytes = Bytes{3ULL << 30U}},
        {.name = "c", .bytes = Bytes{1}},
        {.name = "<loose>", .bytes = Bytes{1'000'000}, .is_loose = true}};
    return blocks;
}

void check_refusal(std::string_view text, const Error& error) {
    if (error.code != Code::usage || error.why.empty() || error.hint.empty()) std::abort();
    const auto column = error.place.column.value_or(0);
    if (column < 1 || column > text.size() + 1 || error.place.key.empty()) std::abort();
    if (to_string(error).find_first_of("\n\r\x1b") != std::string::npos) std::abort();
}

void check_policy(const Policy& policy) {
    const auto text = canonical(policy);
    const auto again = parse_allocation(text, many_devices());
    if (!again || !(*again == policy) || canonical(*again) != text) std::abort();
    const auto made =
        place({.blocks = model(), .policy = policy, .devices = many_devices().devices});
    if (made.homes.size() != model().size()) std::abort();
    Bytes sum;
    Bytes total;
    for (const auto& [device, bytes] : made.per_device) sum += bytes;
    for (const auto& block : model()) total += block.bytes;
    if (sum != total) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto policy = parse_allocation(text, many_devices());
    if (policy) {
        check_policy(*policy);
    } else {
        check_refusal(text, policy.error());
    }
    const auto original = place_like_distorch2(
        {.blocks = model(), .text = std::string(text), .machine = many_devices()});
    if (original && original->homes.size() != model().size()) std::abort();
    return 0;
}
