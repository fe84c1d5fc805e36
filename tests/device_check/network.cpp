#include "tests/device_check/checks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "ballast/runtime/networks/sd/unet.hpp"
#include "tests/support/distributed_part.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::device_check {
namespace {

using ballast::testing::DistributedPart;
using ballast::testing::load_distributed;
using ballast::testing::Machine;
using ballast::testing::plan_in_turn;

using TinyUNet = ballast::testing::TinyPart<runtime::networks::sd::UNet, &models::sd::describe_unet,
                                            DistributedPart>;

/// Seen with bf16 arithmetic was 1.7e-2 of the largest value; TF32 has three bits more.
constexpr double kTf32 = 3 * 1.7e-2 / 8;

constexpr int kCycles = 100;
/// Until allocators and caches have what they keep.
constexpr int kWarmUp = 10;

/// The small network's description, for checks that only load it.
struct Model {
    std::string file = ballast::testing::golden_network("sd15-tiny.safetensors");
    plan::BlockTable table =
        runtime::value_or_throw(
            models::sd::describe_unet(runtime::value_or_throw(formats::open_tensors(file))))
            .table;
};

Bytes resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    statm >> all >> resident;
    return Bytes{resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

Bytes held(const device::Ledger& ledger) {
    Bytes sum;
    for (const auto& [device, use] : ledger.snapshot()) sum += use.now;
    return sum;
}

/// What two instants differ by, for devices that say how much is free.
struct Instant {
    explicit Instant(const device::Device& device)
        : free(device.memory().free), resident(resident_bytes()) {}
    std::optional<Bytes> free;
    Bytes resident;
};

}  // namespace

Outcome computes(const std::shared_ptr<device::Device>& device) {
    Machine machine({device});
    TinyUNet tiny(machine);
    const runtime::nn::Forward forward(tiny.part.source);
    double worst = 0;  // as a share of what is allowed
    double share = 0;  // of the largest value
    for (const std::string name : {"a", "b", "c", "d"}) {
        const auto inputs = "unet." + name;
        const auto out =
            tiny.network(forward, tiny.golden[inputs + ".x"], tiny.golden[inputs + ".timesteps"],
                         tiny.golden[inputs + ".context"]);
        const auto deviation = out.sub(tiny.golden[inputs + ".out"]).abs().max().item<double>();
        const auto magnitude = tiny.tolerances.magnitude(inputs + ".out");
        auto allowed = tiny.tolerances[inputs + ".out"];
        if (device->id().kind == DeviceKind::cuda) allowed = std::max(allowed, kTf32 * magnitude);
        // a result that is no number must not pass
        worst = deviation <= allowed ? std::max(worst, deviation / allowed) : 2;
        share = std::max(share, deviation / magnitude);
    }
    const auto& homes = tiny.part.store->plan().per_device;
    return {worst <= 1,
            fmt::format(
                "largest deviation {:.1e} of the largest value, {:.0f} % of what is "
                "allowed; {} on {}, {} elsewhere",
                share, 100 * worst, to_string(homes.at(device->id())), to_string(device->id()),
                to_string(tiny.description.table.bytes().minus_or_zero(homes.at(device->id()))))};
}

Outcome keeps_limits(const std::shared_ptr<device::Device>& device) {
    const Model model;
    Machine machine({device});
    const auto there = plan_in_turn(model.table, machine.homes()).per_device.at(device->id());
    const auto before = device->memory().held;
    machine.ledger.set_limit(device->id(), there.minus_or_zero(Bytes{1}));
    const auto refused = load_distributed(model.file, model.table, machine);
    if (refused) return {false, "a model was loaded beyond the limit"};
    const auto after = device->memory().held;
    const bool has_passed = refused.error().code == Code::does_not_fit &&
                            machine.transfers.counts().ways.empty() && after == before &&
                            held(machine.ledger).is_zero();
    return {has_passed,
            fmt::format("{} in {} less a byte: {}, {} copies, {} held afterwards", to_string(there),
                        to_string(there), to_string(refused.error().code),
                        machine.transfers.counts().ways.size(), to_string(held(machine.ledger)))};
}

Outcome gives_memory_back(const std::shared_ptr<device::Device>& device) {
    const Model model;
    Machine machine({device});
    const auto cycle = [&] {
        const DistributedPart part(model.file, model.table, machine);
        for (std::uint32_t block = 0; block < model.table.blocks().size(); ++block)
            static_cast<void>(part.source.pin({block}));
    };
    for (int i = 0; i < kWarmUp; ++i) cycle();
    const auto emptied_before = device->empty_cache();
    const Instant before(*device);
    for (int i = kWarmUp; i < kCycles; ++i) cycle();
    const auto emptied_after = device->empty_cache();
    if (!emptied_before || !emptied_after) return {false, "the cache could not be emptied"};
    const Instant after(*device);

    const auto grown = after.resident.minus_or_zero(before.resident);
    const auto lost = before.free && after.free ? before.free->minus_or_zero(*after.free) : Bytes{};
    const auto bound = model.table.bytes();
    const auto on_device = before.free ? fmt::format("{} fewer free on the device", to_string(lost))
                                       : "the device does not say what is free";
    return {grown < bound && lost < bound,
            fmt::format("{} rounds of {}: {}, {} more in the process", kCycles, to_string(bound),
                        on_device, to_string(grown))};
}

}  // namespace ballast::device_check
