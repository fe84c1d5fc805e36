#pragma once
// The library and the reference side by side: each step is made on both, then compared. For one
// thread.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/residency/property_reference.hpp"
#include "tests/engine/residency/property_scene.hpp"

namespace ballast::residency::property {

class World {
public:
    World(std::uint64_t seed, Mistake mistake) : scene_(Variant::of(seed)), reference_(mistake) {}

    // steps; numbers that mean nothing at the moment are a step that does nothing
    void load(std::uint32_t model, std::uint32_t plan, std::uint32_t how);
    void run(std::uint32_t model, std::uint32_t version);
    void hold(std::uint32_t model);
    void let_go(std::uint32_t which);
    void begin_prompt();
    void end_prompt();
    void settle();
    void flag(std::uint32_t model, std::uint32_t by, std::uint32_t flag);
    void request(std::uint32_t unload_models, std::uint32_t free_memory);
    void eject(std::uint32_t model, std::uint32_t by);
    void unload_all();
    void clean_up(std::uint32_t by, std::uint32_t force);
    void empty_caches(std::uint32_t force);
    void press(std::uint32_t device, std::uint32_t kib);
    void ease();
    void keep_results(std::uint32_t kib);
    void fault(std::uint32_t device, std::uint32_t which);
    void expect(std::uint32_t first, std::uint32_t second);
    void replace(std::uint32_t file);
    void remove(std::uint32_t file);
    void pass(std::uint32_t seconds);

    /// What holds at every moment. Called after each step.
    void check();

    /// What was found wrong so far; empty: nothing.
    [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

private:
    /// A use that stays open, and where blocks lie that must not move.
    struct Held {
        ModelHandle handle{};
        std::vector<const std::byte*> places{};
        std::vector<weights::Pin> pins{};
        std::vector<ModelUse> uses{};  ///< one; lets go after the pins
    };
    struct LoadStep {
        ModelSource source{};
        std::vector<PlanMaker> plans{};
        RetentionFlag flag{};
        bool ejects_others = false;
    };

    void require(bool holds, const std::string& what) {
        if (!holds) faults_.push_back(what);
    }

    // loading
    [[nodiscard]] std::optional<std::size_t> plan_that_fits(const LoadStep& step,
                                                            const Expected* entry);
    [[nodiscard]] bool is_outdated(const Expected& each, std::size_t model) const;
    [[nodiscard]] bool may_go(const Expected& each) const;
    [[nodiscard]] bool fits_beside(const PlanMaker& make, const std::vector<ModelHandle>& those);
    void loaded(const LoadStep& step, std::size_t model, const Loading& loading);
    void not_loaded(std::size_t model, const Error& error, const Photograph& before, bool fits,
                    bool is_unsure);
    void check_eviction(const LoadStep& step, const Loading& loading, const Photograph& before,
                        const std::vector<Expected>& was_loaded);
    void resynchronise(std::size_t model);

    // using
    [[nodiscard]] bool has_bytes(const weights::Pin& pin, std::size_t tensor,
                                 const Expected& expected) const;
    void check_bytes(const Expected& expected, const weights::WeightStore& store, bool streams);
    [[nodiscard]] std::optional<ModelUse> use(Expected& expected);
    void clear_faults();

    // freeing
    void carried_out(const std::optional<FreeAnswer>& answer, const Photograph& before,
                     const Reference::Requests& requests, const std::vector<Expected>& was_loaded,
                     bool did_anything_end);
    void check_report(const FreeAnswer& answer, const Photograph& before);
    void check_untouched(const Photograph& before, const std::vector<ModelHandle>& gone);
    void free_again(const Reference::Requests& requests);
    void end(bool is_prompt);

    // checking
    void check_limits();
    void check_account();
    void check_list();
    void check_held_uses();
    void check_gone();

    Scene scene_;
    Reference reference_;
    std::vector<device::Reservation> others_;
    std::vector<device::Reservation> results_;
    std::vector<Held> held_;
    std::vector<std::string> faults_;
    bool has_fault_ = false;           ///< that loading or running may fail of
    bool has_refusal_ = false;         ///< that loading meets once, and overcomes
    bool has_emptying_fault_ = false;  ///< that the next emptying meets
    int drops_ = 0;                    ///< of results
};

}  // namespace ballast::residency::property
