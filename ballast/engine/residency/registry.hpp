#pragma once
// The strong owner of all loaded models: shares them by what they are made of, makes room for new
// ones, and lets them go when it is asked to.
//
// Whoever computes with a model holds a handle, which owns nothing: it can be copied and forgotten,
// and is stale once the model has gone. So no result that a node left behind keeps a model alive,
// and none that is dropped takes one along.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/log.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/device/transfers.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/residency/memory_log.hpp"
#include "ballast/engine/residency/model_handle.hpp"
#include "ballast/engine/residency/model_key.hpp"
#include "ballast/engine/residency/phase.hpp"
#include "ballast/engine/residency/report.hpp"
#include "ballast/engine/residency/retention.hpp"
#include "ballast/engine/weights/weight_store.hpp"

namespace ballast::residency {

/// What the registry asks of what is around it. `room` from any thread, all else on the one that
/// loads.
class Surroundings {
public:
    Surroundings() = default;
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;
    virtual ~Surroundings() = default;

    /// What models may take of each device, those included that hold `held` now: capacities without
    /// what is held for other purposes.
    [[nodiscard]] virtual plan::PlanMachine room(const std::map<DeviceId, Bytes>& held) const = 0;

    /// A model is about to be read: buffers that it may find in its way go.
    virtual void make_way() {}
    /// Models went, or parts of them: allocators give what they keep of it back to the system,
    /// which on a shared pool is where others take it from.
    virtual void models_went() {}
    /// Gives back what is only kept for reuse, allocators' caches among it; how much that was.
    virtual Bytes release_kept() = 0;
};

/// A model as it comes from its file.
struct ModelSource {
    ModelKey key{};
    std::string name{};  ///< for people: "sd15.safetensors (unet)"
    plan::BlockTable table{};
    weights::OpenFile open{};
    Bytes least_segment = weights::kLeastSegment;  ///< as `weights::lay_out` takes it
};

struct LoadRequest {
    const ModelSource* source = nullptr;
    /// Empty: as it is flagged already; a model that is new may go then.
    std::optional<RetentionFlag> retention{};
    /// Plans for what is left of the machine; the first of them that fits counts. One at least.
    std::vector<PlanMaker> plans{};
    /// If the model is not loaded yet, all others go first that are no parts of its file, whom
    /// nobody uses, and of whom nobody said that they are kept.
    bool ejects_others = false;
    std::string remedy{};  ///< what the user could do if it does not fit
};

/// What loading came to.
struct Loading {
    ModelHandle handle{};
    plan::Plan plan{};        ///< the one that was asked for; `is_as_good`: not the one realised
    bool is_as_good = false;  ///< the model stayed where it was, which does as well
    bool is_read = false;     ///< something was read
    std::vector<FreedModel> evicted{};  ///< who went or gave up a part, in that order
};

/// While it lives, a model stays where it is. Move-only; from any thread.
class [[nodiscard]] ModelUse {
public:
    ModelUse(ModelUse&& other) noexcept;
    ModelUse& operator=(ModelUse&& other) = delete;
    ~ModelUse();

    [[nodiscard]] const std::shared_ptr<const weights::WeightStore>& weights() const {
        return weights_;
    }

private:
    friend class Registry;
    ModelUse(Registry* registry, std::uint64_t id,
             std::shared_ptr<const weights::WeightStore> weights)
        : registry_(registry), id_(id), weights_(std::move(weights)) {}

    Registry* registry_;
    std::uint64_t id_;
    std::shared_ptr<const weights::WeightStore> weights_;
};

/// Which use comes when, as far as the queue of prompts tells.
struct ExpectedUse {
    std::filesystem::path file{};
    std::string options{};  ///< as in `ModelKey`

    bool operator==(const ExpectedUse&) const = default;
};

/// One thread loads at a time, and lets go; all else comes from any thread.
class Registry {
public:
    struct Options {
        /// Retained models do not go even where nothing else helps; then loading fails.
        bool is_strict = false;
        MemoryLog* memory = nullptr;  ///< is told what happens; null: nobody is
    };

    /// All must outlive the registry, and the registry its uses.
    Registry(device::Ledger& ledger, device::Transfers& transfers, Surroundings& surroundings,
             Log log, Options options);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry();

    /// Makes the model of that key ready: shares it if it is there and where a plan for it would
    /// have it, or as good; else makes room as `plan_phase` says and reads what is missing. When
    /// memory is refused against all plans, kept memory is released and the load tried once more.
    ///
    /// Fails before anything has gone or is read with `does_not_fit` (what each device lacks, and
    /// what would help), `not_found`, `corrupt_file` (the file is another one by now); and as
    /// `WeightStore::load` does, after which the model is not loaded.
    Result<Loading> load(const LoadRequest& request);

    /// Fails with `not_found` for a handle whose model has gone, or has made room in part, with
    /// `corrupt_file` if blocks are read from a file that was written to since.
    Result<ModelUse> use(ModelHandle handle);

    [[nodiscard]] bool is_loaded(ModelHandle handle) const;
    /// Whether activations of a call fit beside all models, where the model computes.
    [[nodiscard]] bool has_room_for(ModelHandle handle, Bytes activations) const;

    /// Fails with `not_found`, naming what is loaded, unless some model is loaded of that name or
    /// file.
    Result<void> require_loaded(std::string_view name) const;

    /// Changes the flag of every loaded model of that name or file. Fails with `not_found`.
    Result<void> set_retention(std::string_view name, Retention retention);
    /// The same for one model, as its loader says; nothing if it is not loaded.
    void set_retention(const ModelKey& key, RetentionFlag flag);

    /// Lets models go whose flag says `release`; without one, nothing happens. Those in use go at
    /// the next `settle`.
    FreeReport release_flagged();
    /// Lets models of that name or file go, whatever their flags. Fails with `not_found` and
    /// touches nothing if there is none.
    Result<FreeReport> eject(std::string_view name);
    /// Lets every model go, whatever its flag.
    FreeReport release_all();
    /// What was asked for while models were in use. A model that only its flag let go stays if it
    /// has been flagged to be kept since.
    FreeReport settle();
    /// Whether `settle` would let a model go.
    [[nodiscard]] bool has_unsettled() const;

    /// A prompt begins: what was used before was used in an earlier one.
    void begin_prompt();
    /// The uses to come, of this prompt and of those in the queue, in order.
    void expect(std::vector<ExpectedUse> uses);

    /// In the order of their loading.
    [[nodiscard]] std::vector<ModelStatus> models() const;
    /// What all models hold.
    [[nodiscard]] std::map<DeviceId, Bytes> held() const;
    /// The weights of a loaded model, for tests and reports; null if it has gone.
    [[nodiscard]] std::shared_ptr<const weights::WeightStore> weights(ModelHandle handle) const;

private:
    friend class ModelUse;

    struct Entry;
    enum class GoesAfterUse;
    using Entries = std::vector<std::shared_ptr<Entry>>;

    // with work_ held
    [[nodiscard]] std::shared_ptr<Entry> find(const ModelKey& key) const;
    [[nodiscard]] bool is_used(const Entry& entry) const;
    [[nodiscard]] bool is_retained(const Entry& entry) const;
    [[nodiscard]] Entries older_versions(const ModelKey& key) const;
    [[nodiscard]] Entries who_can_be_ejected(const ModelKey& key, const Entries& some) const;
    [[nodiscard]] Entries all_but(const std::shared_ptr<Entry>& one, const Entries& some) const;
    [[nodiscard]] std::vector<Loaded> residents(const Entries& entries) const;
    [[nodiscard]] Phase plan(const LoadRequest& request, const Entries& others) const;
    [[nodiscard]] bool does_as_well(const Entry& entry, const plan::Plan& plan) const;
    [[nodiscard]] Error refusal(const LoadRequest& request, const Phase& phase) const;
    std::vector<FreedModel> drop_outdated(const Entries& outdated);
    std::vector<FreedModel> make_room(const Phase& phase, const Entries& others,
                                      const Entries& ejected, const std::string& name);
    Result<std::shared_ptr<Entry>> realise(const LoadRequest& request, const plan::Plan& plan,
                                           std::shared_ptr<Entry> entry);
    Result<std::shared_ptr<weights::WeightStore>> read(
        const LoadRequest& request, const plan::Plan& plan,
        std::shared_ptr<weights::WeightStore> former);
    void tell_request(const plan::Plan& plan, const std::shared_ptr<Entry>& entry) const;
    void tell_evictions(const std::map<DeviceId, std::size_t>& models) const;
    std::optional<FreedModel> evict(Entry& entry, const std::map<DeviceId, Bytes>& part);
    FreeReport release(const std::function<bool(const Entry&)>& goes, KeptBecause otherwise,
                       GoesAfterUse if_used);

    [[nodiscard]] std::optional<ModelKey> file_read_by(ModelHandle handle) const;

    // with state_ held
    [[nodiscard]] std::shared_ptr<Entry> find(ModelHandle handle) const;
    FreedModel take_out(Entry& entry);
    [[nodiscard]] Entries named(std::string_view name) const;
    [[nodiscard]] Error unknown(std::string_view name) const;
    [[nodiscard]] static bool is_use_of(const ExpectedUse& use, const Entry& entry);
    [[nodiscard]] std::size_t wanted_at(const Entry& entry) const;
    [[nodiscard]] std::optional<std::size_t> next_use(const Entry& entry) const;
    [[nodiscard]] ModelStatus status_of(const Entry& entry) const;

    void end_use(std::uint64_t id);

    device::Ledger* ledger_;
    device::Transfers* transfers_;
    Surroundings* surroundings_;
    Log log_;
    Options options_;
    std::mutex work_;           ///< held while models come and go
    mutable std::mutex state_;  ///< guards what follows; never held while something is read
    Entries entries_;
    std::vector<ExpectedUse> expected_;
    std::size_t next_expected_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t uses_ = 0;
    std::uint64_t prompt_ = 0;
};

}  // namespace ballast::residency
