// Promise: 10,000 blocks are planned on 64 devices in under 50 ms, whatever was asked for: a text
// with an amount for each device, virtual memory, or nothing.

#include <cstdlib>
#include <string>

#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "benchmarks/support/report.hpp"
#include "benchmarks/support/timing.hpp"

namespace {

using namespace ballast;

constexpr double kPromisedMs = 50;
constexpr int kCards = 63;
constexpr int kBlocks = 10'000;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

DeviceId card(int index) { return {DeviceKind::cuda, index}; }

/// The processor and 63 cards of unequal sizes, speeds and links.
plan::PlanMachine large_machine() {
    plan::PlanMachine machine{.disk_bytes_per_s = 3'000'000'000, .disk_latency_ns = 100'000};
    machine.devices.push_back({.id = kCpu,
                               .total = Bytes{64 * kGiB},
                               .capacity = Bytes{60 * kGiB},
                               .flops = 1'000'000'000'000});
    for (int i = 0; i < kCards; ++i) {
        const auto size = static_cast<std::uint64_t>(4 + i % 5 * 4) * kGiB;
        machine.devices.push_back(
            {.id = card(i),
             .total = Bytes{size},
             .capacity = Bytes{size - kGiB},
             .flops = static_cast<std::uint64_t>(20 + i % 7 * 10) * 1'000'000'000'000});
    }
    std::uint64_t rate = 8'000'000'000;
    for (const auto& from : machine.devices)
        for (const auto& to : machine.devices)
            if (from.id != to.id)
                machine.links.push_back({from.id, to.id, rate += 1'000'000, 10'000});
    return machine;
}

/// 120 GiB in blocks from 2 to 22 MiB: beyond every single device.
std::vector<plan::PlanBlock> large_model() {
    std::vector<plan::PlanBlock> blocks;
    for (int i = 0; i < kBlocks; ++i) {
        const auto bytes = (2 + static_cast<std::uint64_t>(i * 37 % 21)) * kMiB;
        blocks.push_back({.name = "blocks." + std::to_string(i) + ".linear",
                          .bytes = Bytes{bytes},
                          .flops = bytes * 4096});
    }
    return blocks;
}

std::string an_amount_for_each_card() {
    std::string text;
    for (int i = 0; i < kCards; ++i) text += to_string(card(i)) + ",1.5gb;";
    return text + "cpu,*";
}

std::string virtual_memory() {
    std::string donors;
    for (int i = 1; i < kCards; ++i) donors += to_string(card(i)) + ",";
    return "#cuda:0;110;" + donors + "cpu";
}

/// Milliseconds from an allocation text to the plan; the slowest of several runs would be another
/// program's doing.
double planning_ms(plan::PlanRequest& request, const std::string& text) {
    plan::AllocationContext context{.compute = card(0)};
    for (const auto& device : request.machine.devices)
        context.devices.push_back({device.id, device.total});
    const auto samples = benchmarks::time_runs(5, [&] {
        auto policy = plan::parse_allocation(text, context);
        if (!policy) std::exit(EXIT_FAILURE);
        request.policy = *std::move(policy);
        const auto made = plan::make_plan(request);
        if (made.homes.size() != static_cast<std::size_t>(kBlocks)) std::exit(EXIT_FAILURE);
    });
    return samples.median() * 1e3;
}

}  // namespace

int main(int argc, char** argv) {
    plan::PlanRequest request{
        .blocks = large_model(), .machine = large_machine(), .activations = Bytes{kGiB}};
    std::vector<benchmarks::Row> rows;
    const auto add = [&](const char* name, const std::string& text) {
        rows.push_back({name, planning_ms(request, text), "ms", kPromisedMs, "promised"});
    };
    add("plan.bytes_10k_on_64", an_amount_for_each_card());
    add("plan.virtual_10k_on_64", virtual_memory());
    add("plan.automatic_10k_on_64", "");
    benchmarks::print_report(rows, benchmarks::output_asked_for(argc, argv));
    return EXIT_SUCCESS;
}
