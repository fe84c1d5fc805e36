#include "tests/verification/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tests/verification/expectations.hpp"
#include "tests/verification/world.hpp"

namespace ballast::verification {
namespace {

using residency::FreeAnswer;
using residency::ModelHandle;
using residency::Retention;

/// All that freeing might change.
struct State {
    std::map<DeviceId, Bytes> all_held{};
    std::map<DeviceId, Bytes> models_held{};
    std::map<DeviceId, device::MemoryState> devices{};
    std::map<DeviceId, std::uint64_t> calls{};
    std::vector<ModelHandle> models{};
    std::vector<const weights::WeightStore*> stores{};
    std::uint64_t bytes_read = 0;
};

State state_of(const World& world, const Models& models) {
    State state{.all_held = world.all_held(),
                .models_held = world.models_held(),
                .bytes_read = models.bytes_read()};
    for (const auto& device : world.simulation.devices().all()) {
        if (device->id() == kCpu) continue;  // the host's own readings differ from run to run
        state.devices[device->id()] = device->memory();
        state.calls[device->id()] = world.simulation.calls(device->id());
    }
    for (const auto& model : world.registry.models()) {
        state.models.push_back(model.handle);
        state.stores.push_back(world.registry.weights(model.handle).get());
    }
    return state;
}

class Run {
public:
    Run(const Coordinates& at, const ScaledMachine& machine, const Models& models)
        : models_(&models), machine_(&machine), world_(*at.machine, machine) {
        cell_.at = at;
    }

    Cell run() {
        note("an idle machine", "idle");
        if (!load()) return std::move(cell_);
        before_ = state_of(world_, *models_);
        for (std::size_t m = 0; m < kModels; ++m)
            left_behind_[m] = world_.registry.weights(handles_[m]);
        world_.wall_clock.start_again();
        const auto answer = free();
        tell(answer);
        check_class();
        check_models(answer);
        check_account(answer);
        check_caches();
        check_rest(answer);
        check_again();
        for (const auto& warning : world_.lines->warnings()) expect(false, "warned: " + warning);
        return std::move(cell_);
    }

private:
    void expect(bool holds, const std::string& what) {
        if (!holds) cell_.broken.push_back(what);
    }
    /// Ends a step with a line of what is used now.
    void note(const std::string& title, std::string_view tag) {
        world_.memory.load(tag);
        cell_.steps.push_back({title, world_.lines->take()});
    }

    bool load() {
        const auto text = allocation_text(*cell_.at.placement, *cell_.at.machine);
        for (std::size_t m = 0; m < kModels; ++m) {
            const auto retention =
                cell_.at.flags->is_flagged[m] ? Retention::release : Retention::keep;
            auto loaded = world_.load((*models_)[m], text, retention);
            const std::string name(kModelNames[m]);
            if (!loaded) {
                expect(false, to_string(loaded.error()));
                return false;
            }
            handles_[m] = loaded->handle;
            remember(m, loaded->plan);
            check_content(m);
            const auto read_before = models_->bytes_read();
            check_content(m);
            read_at_use_[m] = models_->bytes_read() - read_before;
            note("the " + name + " is loaded, " +
                     (retention == Retention::keep ? "to be kept" : "flagged to go"),
                 fmt::format("loaded_{}", name.substr(0, name.find(' '))));
        }
        if (auto left = world_.leave_results(cell_.at.machine->compute); !left) {
            expect(false, to_string(left.error()));
            return false;
        }
        note("a prompt has left results of nodes on cpu, and activations in the allocator's cache",
             "prompt_done");
        std::map<DeviceId, Bytes> all;
        for (const auto& held : held_) all = sum(all, held);
        expect(world_.models_held() == all, "the account has other weights than the plans");
        return true;
    }

    void remember(std::size_t m, const plan::Plan& plan) {
        held_[m] = expected_held((*models_)[m].source.table, plan);
        cell_.rings[m] = plan.ring;
        std::set<DeviceId> homes;
        for (std::size_t b = 0; b < plan.homes.size(); ++b) {
            homes.insert(plan.homes[b]);
            cell_.homes[m][plan.homes[b]] += (*models_)[m].source.table.blocks()[b].bytes;
        }
        expect(homes == expected_homes(*cell_.at.placement, *cell_.at.machine),
               fmt::format("the {} is not on the devices that were asked for", kModelNames[m]));
    }

    void check_content(std::size_t m) {
        const auto use = world_.registry.use(handles_[m]);
        if (!use) return expect(false, to_string(use.error()));
        const auto different = (*models_)[m].difference(*use->weights());
        expect(!different, different.value_or(""));
    }

    std::optional<FreeAnswer> free() {
        const auto& kind = *cell_.at.kind;
        if (kind.moment == Moment::in_prompt) return free_after_prompt();
        kind.ask(world_.flow);
        return world_.flow.settle(world_.dropping_results());
    }

    std::optional<FreeAnswer> free_after_prompt() {
        world_.flow.begin_prompt();
        {
            const auto use = world_.registry.use(handles_[0]);
            expect(use.has_value(), "a loaded model cannot be used");
            cell_.at.kind->ask(world_.flow);
            expect(!world_.flow.settle(world_.dropping_results()),
                   "memory was freed in the middle of a prompt");
            const auto now = state_of(world_, *models_);
            expect(now.all_held == before_.all_held && now.stores == before_.stores &&
                       now.calls == before_.calls && world_.emptied.empty() &&
                       world_.results_dropped == 0,
                   "something changed in the middle of a prompt");
        }
        note("asked while a prompt runs: nothing changes", "in_prompt");
        return world_.flow.end_prompt(world_.dropping_results());
    }

    void tell(const std::optional<FreeAnswer>& answer) {
        cell_.free_lines = world_.lines->take();
        cell_.steps.push_back(
            {std::string("freeing: ") + std::string(cell_.at.kind->name), cell_.free_lines});
        after_ = state_of(world_, *models_);
        cell_.are_results_dropped = world_.results_dropped > 0;
        cell_.released = difference(before_.all_held, after_.all_held);
        for (std::size_t m = 0; m < kModels; ++m)
            cell_.has_gone[m] = world_.registry.weights(handles_[m]) == nullptr;
        for (const auto& reports : world_.emptied)
            for (const auto& report : reports)
                if (report.device != kCpu)
                    cell_.caches[report.device] = {report.action, report.is_asleep, report.released,
                                                   report.kept};
        if (answer) cell_.answer = answer->lines();
        note("afterwards", "freed");
    }

    void check_class() {
        const auto compute = machine_->judged(cell_.at.machine->compute);
        expect(compute.classification.memory_class == cell_.at.machine->memory_class,
               "the device that computes is of another class");
        for (const auto& device : machine_->small.devices) {
            const auto found = machine_->judged(device.id).classification.memory_class;
            const auto small =
                machine::classify(device, machine_->small.host, machine_->small.system,
                                  {.vram = cell_.at.machine->vram});
            expect(found == cell_.at.machine->memory_class,
                   to_string(device.id) + " is of another class");
            expect(small.memory_class == found,
                   to_string(device.id) + " is of another class once it is small");
        }
    }

    void check_models(const std::optional<FreeAnswer>& answer) {
        const auto goes = expected_to_go(*cell_.at.kind, *cell_.at.flags);
        std::vector<ModelHandle> kept;
        std::vector<const weights::WeightStore*> stores;
        for (std::size_t m = 0; m < kModels; ++m) {
            if (goes[m]) continue;
            kept.push_back(handles_[m]);
            stores.push_back(before_.stores[m]);
        }
        expect(cell_.has_gone == goes, "other models went than should");
        expect(after_.models == kept, "those that stay are others, or in another order");
        expect(after_.stores == stores, "one that stays was loaded anew");
        expect(after_.bytes_read == before_.bytes_read, "freeing read from a file");
        for (std::size_t m = 0; m < kModels; ++m) check_model(m, goes[m]);
        if (!answer) return;
        std::vector<ModelHandle> told;
        for (const auto& model : answer->models.freed) told.push_back(model.handle);
        std::vector<ModelHandle> gone;
        for (std::size_t m = 0; m < kModels; ++m)
            if (goes[m]) gone.push_back(handles_[m]);
        expect(told == gone, "the answer tells of other models than went");
        expect(answer->models.kept.size() == kept.size(), "the answer leaves out who stays");
    }

    /// Those that went cannot be used; those that stay can, and read what they read at every use:
    /// blocks that stay in the file and that the ring has not got.
    void check_model(std::size_t m, bool goes) {
        const std::string name(kModelNames[m]);
        if (goes) {
            const auto use = world_.registry.use(handles_[m]);
            expect(!use && use.error().code == Code::not_found,
                   "the " + name + " went and can still be used");
            return;
        }
        const auto read_before = models_->bytes_read();
        check_content(m);
        expect(models_->bytes_read() - read_before == read_at_use_[m],
               "the " + name + " reads other bytes at its next use than at those before");
    }

    void check_account(const std::optional<FreeAnswer>& answer) {
        std::map<DeviceId, Bytes> stays;
        std::map<DeviceId, Bytes> gone;
        for (std::size_t m = 0; m < kModels; ++m) {
            auto& where = cell_.has_gone[m] ? gone : stays;
            where = sum(where, held_[m]);
        }
        expect(after_.models_held == stays, "the account does not have what stays");
        expect(sum(after_.all_held, cell_.released) == before_.all_held,
               "something was allocated to free memory");
        if (cell_.are_results_dropped) gone = sum(gone, {{kCpu, World::kResults}});
        expect(cell_.released == gone, "other bytes came back than were held");
        for (const auto& [device, state] : after_.devices) {
            const bool is_empty = bytes_on(stays, device).is_zero();
            expect(state.held.is_zero() == is_empty && state.held >= bytes_on(stays, device),
                   to_string(device) + " holds other bytes than the account says");
        }
        if (!answer) return;
        for (const auto& [device, told] : answer->devices)
            expect(told.released == bytes_on(gone, device) && told.kept == bytes_on(stays, device),
                   "the answer tells other bytes of " + to_string(device));
    }

    void check_caches() {
        const auto& kind = *cell_.at.kind;
        expect(world_.emptied.size() == 1, "caches were not emptied once");
        for (const auto& [device, state] : after_.devices) {
            const auto name = to_string(device);
            const auto before = before_.devices.at(device);
            const bool is_used = before_.calls.at(device) != 0;
            const auto freed = before.held.minus_or_zero(state.held);
            const auto had = before.cached + freed;
            const auto action = expected_action(cell_.at.machine->memory_class, kind.call);
            const bool releases = action == machine::CacheAction::release;
            const Emptied expected = is_used ? Emptied{.action = action,
                                                       .released = releases ? had : Bytes{},
                                                       .kept = releases ? Bytes{} : had}
                                             : Emptied{.is_asleep = true};
            expect(cell_.caches[device] == expected, name + ": the cache was treated otherwise");
            expect(state.cached == expected.kept, name + " keeps other bytes than it tells");
            if (!is_used) expect(after_.calls.at(device) == 0, name + " was woken");
        }
    }

    void check_rest(const std::optional<FreeAnswer>& answer) {
        const auto& kind = *cell_.at.kind;
        expect(answer.has_value() == kind.is_answered, "there is no answer, or one too many");
        expect(world_.results_dropped == (kind.drops_results ? 1 : 0),
               "results of nodes were treated otherwise");
    }

    /// Asked a second time, nothing changes.
    void check_again() {
        cell_.at.kind->ask(world_.flow);
        const auto again = world_.flow.settle(world_.dropping_results());
        expect(!again || again->models.freed.empty(), "more went when it was asked again");
        const auto now = state_of(world_, *models_);
        expect(now.all_held == after_.all_held && now.stores == after_.stores,
               "asking again changed something");
    }

    const Models* models_;
    const ScaledMachine* machine_;
    World world_;
    Cell cell_{};
    std::array<ModelHandle, kModels> handles_{};
    std::array<std::map<DeviceId, Bytes>, kModels> held_{};  ///< by the plans
    std::array<std::uint64_t, kModels> read_at_use_{};       ///< from the file, by every use
    /// As a careless result of a node would hold them; that must keep no bytes.
    std::array<std::shared_ptr<const weights::WeightStore>, kModels> left_behind_{};
    State before_{};
    State after_{};
};

}  // namespace

std::string name_of(const Coordinates& at) {
    return fmt::format("{}; {}; {}; {}", at.machine->title, at.placement->name, at.flags->name,
                       at.kind->name);
}

Cell run_cell(const Coordinates& at, const ScaledMachine& machine, const Models& models) {
    return Run(at, machine, models).run();
}

}  // namespace ballast::verification
