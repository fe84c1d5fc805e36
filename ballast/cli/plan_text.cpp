#include "ballast/cli/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace ballast::cli {
namespace {

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

/// "[######....      ] " of what a device may hold: weights, ring and activations, room.
std::string bar(Bytes weights, Bytes other, Bytes capacity) {
    constexpr std::uint64_t kWidth = 40;
    const auto whole = std::max(capacity, weights + other).count();
    if (whole == 0) return std::string(kWidth, ' ');
    const auto cells = [&](Bytes part) {
        return static_cast<std::size_t>(
            static_cast<double>(part.count()) / static_cast<double>(whole) * kWidth + 0.5);
    };
    auto text = std::string(cells(weights), '#') + std::string(cells(other), '+');
    text.resize(kWidth, ' ');
    return text;
}

void add_device(std::string& text, const plan::PlanDevice& device, const plan::Plan& plan) {
    const auto held = plan.per_device.find(device.id);
    const auto weights = held == plan.per_device.end() ? Bytes{} : held->second;
    const auto other = device.id == plan.compute ? plan.ring + plan.activations : Bytes{};
    fmt::format_to(std::back_inserter(text), "{:<9} [{}] {} of {}{}{}\n", to_string(device.id),
                   bar(weights, other, device.capacity), to_string(weights),
                   to_string(device.capacity),
                   other.is_zero() ? "" : fmt::format(" + {}", to_string(other)),
                   device.id == plan.compute ? "  computes" : "");
}

void add_expected(std::string& text, const plan::Plan& plan) {
    if (!plan.moved.is_zero())
        fmt::format_to(std::back_inserter(text), "{} travel in each step\n", to_string(plan.moved));
    if (plan.expected)
        fmt::format_to(std::back_inserter(text), "a step should take {:.3f} s (at best {:.3f} s)\n",
                       seconds(plan.expected->step_ns), seconds(plan.expected->bound_ns));
}

void add_blocks(std::string& text, const plan::PlanRequest& request, const plan::Plan& plan) {
    text += '\n';
    for (std::size_t i = 0; i < request.blocks.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{:<9} {:>14} {}{}\n", to_string(plan.homes[i]),
                       request.blocks[i].bytes.count(), escaped(request.blocks[i].name),
                       plan.pinned[i] == plan::Pinned::no
                           ? ""
                           : fmt::format(" ({})", to_string(plan.pinned[i])));
}

}  // namespace

Json plan_json(const plan::PlanRequest& request, const plan::Plan& plan) {
    Json blocks = Json::array();
    for (std::size_t i = 0; i < request.blocks.size(); ++i)
        blocks.push_back({{"name", request.blocks[i].name},
                          {"bytes", request.blocks[i].bytes.count()},
                          {"home", to_string(plan.homes[i])},
                          {"pinned", plan.pinned[i] != plan::Pinned::no}});
    Json expected = nullptr;
    if (plan.expected)
        expected = {{"step_s", seconds(plan.expected->step_ns)},
                    {"bound_s", seconds(plan.expected->bound_ns)}};
    return {{"compute", to_string(plan.compute)},
            {"mode", to_string(plan.mode)},
            {"allocation", canonical(request.policy)},
            {"blocks", std::move(blocks)},
            {"homes", bytes_json(plan.per_device)},
            {"quotas", bytes_json(plan.quotas)},
            {"ring_bytes", plan.ring.count()},
            {"activation_bytes", plan.activations.count()},
            {"bytes_per_step", plan.moved.count()},
            {"expected", std::move(expected)},
            {"fits", plan.fits},
            {"shortfall", shortfall_json(plan.shortfall)},
            {"warnings", plan.warnings},
            {"explanation", plan.explanation}};
}

std::string plan_text(const plan::PlanRequest& request, const plan::Plan& plan, Detail detail) {
    std::string text;
    for (const auto& device : request.machine.devices) add_device(text, device, plan);
    if (const auto held = plan.per_device.find(kDisk); held != plan.per_device.end())
        fmt::format_to(std::back_inserter(text), "disk      {} stay in the file\n",
                       to_string(held->second));
    add_expected(text, plan);
    if (detail == Detail::everything)
        for (const auto& line : plan.explanation) text += "because   " + escaped(line) + '\n';
    for (const auto& warning : plan.warnings) text += "warning   " + escaped(warning) + '\n';
    if (detail == Detail::everything) add_blocks(text, request, plan);
    return text;
}

Shortfalls shortfall_of(std::span<const NamedPlan> plans) {
    Shortfalls most;
    for (const auto& each : plans) keep_worst(most, each.plan.shortfall);
    return most;
}

Error refusal_of(std::span<const NamedPlan> plans, std::string_view what, std::string hint) {
    Error error{.code = Code::does_not_fit,
                .what = fmt::format("the {} does not fit", what),
                .hint = std::move(hint),
                .shortfall = shortfall_of(plans)};
    for (const auto& each : plans)
        for (const auto& [device, lack] : each.plan.shortfall) {
            if (!error.why.empty()) error.why += "; ";
            if (plans.size() > 1) error.why += fmt::format("{} on ", each.name);
            error.why += to_string(device, lack);
        }
    return error;
}

}  // namespace ballast::cli
