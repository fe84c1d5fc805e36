#include "ballast/engine/residency/free_flow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "ballast/engine/residency/invariants.hpp"

namespace ballast::residency {
namespace {

/// How much a reason tells beside another one for the same model.
int weight_of(KeptBecause why) {
    switch (why) {
        case KeptBecause::not_asked: return 0;
        case KeptBecause::retained: return 1;
        case KeptBecause::in_use: return 2;  // it goes after that, whatever the next step says
        case KeptBecause::failed: return 3;
    }
    return 0;
}

/// Adds what another step did. A model that stayed in one step and went in a later one went.
void join(FreeReport& report, FreeReport more) {
    for (const auto& freed : more.freed)
        std::erase_if(report.kept,
                      [&](const KeptModel& kept) { return kept.handle == freed.handle; });
    std::ranges::move(more.freed, std::back_inserter(report.freed));
    for (auto& kept : more.kept) {
        const auto known = std::ranges::find(report.kept, kept.handle, &KeptModel::handle);
        if (known == report.kept.end())
            report.kept.push_back(std::move(kept));
        else if (weight_of(kept.why) > weight_of(known->why))
            *known = std::move(kept);
    }
}

}  // namespace

FreeFlow::Checks FreeFlow::usual_checks() {
#ifdef NDEBUG
    return Checks::off;
#else
    return Checks::on;
#endif
}

void FreeFlow::request(const FreeFlags& flags) {
    const std::scoped_lock lock(mutex_);
    const bool frees = flags.free_memory.value_or(false);
    requests_.frees = requests_.frees || frees;
    requests_.unloads = requests_.unloads || flags.unload_models.value_or(frees);
}

Result<void> FreeFlow::request_eject(const std::string& name) {
    if (auto known = registry().require_loaded(name); !known) return known;
    const std::scoped_lock lock(mutex_);
    if (std::ranges::find(requests_.ejected, name) == requests_.ejected.end())
        requests_.ejected.push_back(name);
    return {};
}

void FreeFlow::request_unload_all() {
    const std::scoped_lock lock(mutex_);
    requests_.unloads_all = true;
}

std::string FreeFlow::force_full_system_cleanup(std::string_view reason, bool force) {
    Cleanup cleanup{.reason = reason,
                    .models_before = registry().models().size(),
                    .cpu_before = parts_.host_used()};
    memory().snapshot("full_cleanup", fmt::format("start:{}", reason));
    bool is_skipped = false;
    {
        const std::scoped_lock lock(mutex_);
        is_skipped = is_running_ && !force;
    }
    if (!is_skipped) request({.unload_models = true, .free_memory = true});
    memory().snapshot("full_cleanup", fmt::format("requested:{}", reason));
    cleanup.models_after = registry().models().size();
    cleanup.cpu_after = parts_.host_used();
    auto line = manager_parity_line(cleanup);
    memory().say(line);
    return line;
}

bool FreeFlow::reset_executor(std::string_view reason, bool force) {
    if (parts_.server == Server::absent) return false;
    {
        const std::scoped_lock lock(mutex_);
        if (is_running_ && !force) return false;
    }
    memory().snapshot("executor_reset", fmt::format("pre-trigger ({})", reason));
    request({.free_memory = true});
    if (parts_.pressure != nullptr) {
        const std::scoped_lock lock(pressure_mutex_);
        parts_.pressure->note_reset();
    }
    memory().snapshot("executor_reset", fmt::format("post-trigger ({})", reason));
    return true;
}

MemoryStatus FreeFlow::status() const {
    MemoryStatus status{.models = registry().models(), .ledger = parts_.ledger->snapshot()};
    for (const auto& device : parts_.devices->all()) {
        MemoryStatus::Device told{.id = device->id(), .is_awake = device->is_awake()};
        if (told.is_awake) {
            const auto state = device->memory();
            told.total = state.total;
            told.free = state.free;
            told.cached = state.cached;
        }
        status.devices.push_back(told);
    }
    const std::scoped_lock lock(mutex_);
    status.is_running = is_running_;
    status.has_requests = !requests_.is_empty();
    return status;
}

void FreeFlow::begin_prompt() {
    registry().begin_prompt();
    const std::scoped_lock lock(mutex_);
    is_running_ = true;
}

std::optional<FreeAnswer> FreeFlow::end_prompt(const std::function<void()>& drop_results) {
    {
        const std::scoped_lock lock(mutex_);
        is_running_ = false;
    }
    if (auto answer = settle(drop_results)) return answer;
    const auto now = parts_.clock->now();
    if (emptied_at_ && now - *emptied_at_ < kLeastPause) return std::nullopt;
    emptied_at_ = now;
    soft_empty_cache(false);
    return std::nullopt;
}

std::optional<FreeAnswer> FreeFlow::settle(const std::function<void()>& drop_results) {
    Requests requests;
    {
        const std::scoped_lock lock(mutex_);
        if (is_running_) return std::nullopt;  // never in the middle of a prompt
        requests = std::exchange(requests_, {});
    }
    if (requests.is_empty() && !registry().has_unsettled()) return std::nullopt;
    return carry_out(requests, drop_results);
}

std::vector<CacheReport> FreeFlow::soft_empty_cache(bool force) {
    watch_pressure();
    auto reports = empty(force ? machine::EmptyingCall::forced : machine::EmptyingCall::soft);
    memory().snapshot("general", "post-soft-empty");
    if (force) reset_executor("forced_soft_empty", true);
    return reports;
}

void FreeFlow::watch_pressure() {
    if (parts_.pressure == nullptr || parts_.server == Server::absent) return;
    {
        const std::scoped_lock lock(mutex_);
        if (is_running_) return;
    }
    const auto look = [this] {
        const std::scoped_lock lock(pressure_mutex_);
        return parts_.pressure->look();
    }();
    if (look.action == PressureAction::none) return;
    memory().snapshot("cpu_monitor", look.tag);
    if (look.action == PressureAction::skip) {
        parts_.log.debug(
            fmt::format("{:.1f} % of the host's memory is in use, as after the last "
                        "time that results were dropped",
                        look.usage));
        return;
    }
    parts_.log.warning(fmt::format(
        "{:.1f} % of the host's memory is in use: results of nodes are dropped", look.usage));
    reset_executor("cpu_threshold_exceeded");
}

/// References go first, then devices are waited for and memory is released, then caches.
FreeAnswer FreeFlow::carry_out(const Requests& requests,
                               const std::function<void()>& drop_results) {
    FreeAnswer answer{.resident_before = resident()};
    const bool is_checked = parts_.checks == Checks::on;
    const auto before = is_checked ? photograph(registry(), *parts_.ledger)
                                   : Photograph{.ledger = parts_.ledger->snapshot()};
    memory().snapshot("free_memory", "pre");
    answer.models = release_models(requests, answer.errors);
    if (is_checked) check(broken_by_freeing(before, registry(), *parts_.ledger, answer.models));
    if (requests.frees) {
        drop_results();
        answer.are_results_dropped = true;
    }
    parts_.release_kept();
    answer.caches = empty(machine::EmptyingCall::forced);
    emptied_at_ = parts_.clock->now();
    if (is_checked) check(broken_by_emptying(*parts_.devices, answer.caches));
    memory().snapshot("free_memory", "post");
    account(answer, before.ledger);
    answer.resident_after = resident();
    for (const auto& line : answer.lines()) parts_.log.info(line);
    return answer;
}

FreeReport FreeFlow::release_models(const Requests& requests, std::vector<Error>& errors) {
    if (requests.unloads_all) return registry().release_all();
    FreeReport report = registry().settle();
    for (const auto& name : requests.ejected) {
        auto ejected = registry().eject(name);
        if (ejected)
            join(report, *std::move(ejected));
        else
            errors.push_back(std::move(ejected).error());
    }
    if (requests.unloads) join(report, registry().release_flagged());
    return report;
}

std::vector<CacheReport> FreeFlow::empty(machine::EmptyingCall call) {
    const auto tell = [this](std::string_view when) {
        for (const auto& device : parts_.devices->all())
            if (device->id() != kCpu)
                memory().snapshot("general", fmt::format("{}:{}", when, to_string(device->id())));
    };
    tell("pre-empty");
    auto reports = parts_.empty_caches(call);
    tell("post-empty");
    return reports;
}

void FreeFlow::account(FreeAnswer& answer, const device::LedgerSnapshot& before) const {
    const auto after = parts_.ledger->snapshot();
    for (const auto& [device, use] : before) {
        if (device.kind == DeviceKind::disk) continue;  // holds nothing of ours
        const auto now = after.find(device);
        answer.devices[device].released =
            use.now.minus_or_zero(now == after.end() ? Bytes{} : now->second.now);
    }
    for (const auto& [device, tiers] : answer.models.released_by_tier())
        answer.devices[device].by_tier = tiers;
    for (const auto& [device, bytes] : answer.models.held()) answer.devices[device].kept = bytes;
    for (const auto& report : answer.caches) {
        auto& told = answer.devices[report.device];
        told.cache_released = report.released;
        told.error = report.error;
    }
}

void FreeFlow::check(const std::vector<std::string>& broken) const {
    if (broken.empty()) return;
    throw std::logic_error(fmt::format("freeing memory broke {}", fmt::join(broken, "; ")));
}

std::vector<std::string> FreeAnswer::lines() const {
    std::vector<std::string> lines;
    const auto sum = [](const std::map<DeviceId, Bytes>& held) {
        std::string text;
        for (const auto& [device, bytes] : held)
            text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", to_string(bytes),
                                to_string(device));
        return text.empty() ? std::string("nothing in memory") : text;
    };
    for (const auto& model : models.freed)
        lines.push_back(fmt::format("released {}: {}", model.name, sum(model.released)));
    for (const auto& model : models.kept) {
        const auto why = [&]() -> std::string {
            switch (model.why) {
                case KeptBecause::retained:
                    return "kept by its flag; eject it by name, or unload all";
                case KeptBecause::in_use: return "in use; goes after that";
                case KeptBecause::not_asked: return "not asked for";
                case KeptBecause::failed: return to_string(*model.error);
            }
            return {};
        }();
        lines.push_back(fmt::format("stays {} ({}): {}", model.name, sum(model.held), why));
    }
    if (are_results_dropped) lines.emplace_back("dropped the results of nodes");
    for (const auto& [device, told] : devices) {
        auto line = fmt::format("{}: released {}", to_string(device), to_string(told.released));
        for (const auto& [tier, bytes] : told.by_tier)
            line += fmt::format(", {} weights {}", to_string(tier), to_string(bytes));
        line += fmt::format("; caches {}; models that stay hold {}", to_string(told.cache_released),
                            to_string(told.kept));
        if (told.error) line += "; " + to_string(*told.error);
        lines.push_back(std::move(line));
    }
    if (resident_before && resident_after)
        lines.push_back(fmt::format("the process had {} in the host's memory, and has {}",
                                    to_string(*resident_before), to_string(*resident_after)));
    for (const auto& error : errors) lines.push_back(to_string(error));
    return lines;
}

}  // namespace ballast::residency
