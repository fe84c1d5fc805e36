#pragma once
// The scene with a free flow over it, whose steps are recorded.

#include <optional>
#include <string>
#include <vector>

#include "tests/engine/residency/residency_scene.hpp"

namespace ballast::residency::testing {

struct FlowScene : Scene {
    struct Options {
        FreeFlow::Server server = FreeFlow::Server::absent;
        FreeFlow::Checks checks = FreeFlow::Checks::on;
        bool watches_pressure = false;
    };

    FlowScene() : FlowScene(Options{}) {}
    explicit FlowScene(Options options)
        : flow({.registry = &registry,
                .ledger = &ledger,
                .devices = &machine.devices(),
                .memory = &memory,
                .clock = &clock,
                .log = log,
                .empty_caches = [this](machine::EmptyingCall call) { return empty(call); },
                .release_kept = [this] { note("kept"); },
                .host_used = [this] { return host_used(); },
                .resident = [this] { return resident(); },
                .pressure = options.watches_pressure ? &watch : nullptr,
                .server = options.server,
                .checks = options.checks}) {
        for (const auto card : {kA, kB}) machine.keep_cache(card);
    }

    std::optional<FreeAnswer> settle() { return flow.settle(drop_results); }
    std::optional<FreeAnswer> end_prompt() { return flow.end_prompt(drop_results); }
    /// Asks while nothing runs, and has it carried out.
    FreeAnswer free(const FreeFlags& flags) {
        flow.request(flags);
        return settle().value();
    }
    /// The numbers of models beside which each step happened.
    void note(const std::string& step) {
        steps.push_back(step);
        models_then.push_back(registry.models().size());
    }

    VirtualClock clock;
    double usage = 50;  ///< of the host, in percent
    std::function<double()> reading = [this] { return usage; };
    PressureWatch watch{[this] { return reading(); }, clock};
    std::function<Bytes()> host_used = [] { return blocks(8); };
    std::function<std::optional<Bytes>()> resident = [] { return std::nullopt; };
    std::vector<std::string> steps;
    std::vector<std::size_t> models_then;
    std::function<void()> drop_results = [this] { note("results"); };
    /// What emptying tells, if it is not what the devices say.
    std::optional<std::vector<CacheReport>> told_of_caches;
    FreeFlow flow;

private:
    std::vector<CacheReport> empty(machine::EmptyingCall call) {
        note(call == machine::EmptyingCall::soft ? "caches softly" : "caches");
        if (told_of_caches) return *told_of_caches;
        const auto policy = [](DeviceId device) {
            return device == kCpu ? DevicePolicy{}
                                  : DevicePolicy{.memory_class = machine::MemoryClass::discrete};
        };
        return empty_caches(machine.devices(), {}, call, policy, {}, log);
    }
};

inline constexpr FreeFlags kBoth{.unload_models = true, .free_memory = true};

}  // namespace ballast::residency::testing
