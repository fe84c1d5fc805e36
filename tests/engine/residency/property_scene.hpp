#pragma once
// A small machine with two simulated cards, files of models, and a registry over both: what random
// steps are made on. Owns the files; for one thread, except what the library says of its own parts.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/residency/free_flow.hpp"
#include "ballast/engine/residency/invariants.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::residency::property {

inline constexpr DeviceId kCard{DeviceKind::cuda, 0};
inline constexpr DeviceId kOther{DeviceKind::cuda, 1};
inline constexpr std::array kDevices{kCpu, kCard, kOther};

/// What differs from one machine to the next.
struct Variant {
    bool is_strict = false;    ///< retained models never make room
    bool is_one_pool = false;  ///< the second card's memory is the host's as well
    bool keeps_caches = false;
    Bytes granularity{1};    ///< of the cards
    Bytes least_segment{1};  ///< of weights that go together

    static Variant of(std::uint64_t seed);
};

/// Models, each a part of a file.
inline constexpr std::size_t kModels = 5;
inline constexpr std::size_t kFiles = 4;
/// The last two share a file.
constexpr std::size_t file_of(std::size_t model) { return model < kFiles ? model : kFiles - 1; }

/// What byte `offset` of a version of a file is.
constexpr std::byte content(std::size_t file, std::uint32_t version, std::uint64_t offset) {
    return static_cast<std::byte>((offset * 7 + file * 31 + version * 101) % 251);
}

/// Files that can be replaced and deleted, and the models in them.
class Files {
public:
    explicit Files(Bytes least_segment);

    /// Puts another version in the place of the file; who has it open keeps the former one.
    void replace(std::size_t file);
    void remove(std::size_t file);

    [[nodiscard]] bool is_there(std::size_t file) const { return is_there_[file]; }
    [[nodiscard]] std::uint32_t version(std::size_t file) const { return versions_[file]; }
    [[nodiscard]] std::filesystem::path path(std::size_t file) const;
    [[nodiscard]] static std::string name(std::size_t model);
    [[nodiscard]] const plan::BlockTable& table(std::size_t model) const { return tables_[model]; }
    /// The model as its file is now, or was when it was last there.
    [[nodiscard]] ModelSource source(std::size_t model) const;
    /// How often something was read from any of the files.
    [[nodiscard]] std::uint64_t reads() const { return reads_->load(); }

private:
    void write(std::size_t file);

    ballast::testing::TemporaryFolder folder_;
    Bytes least_segment_;
    std::array<plan::BlockTable, kModels> tables_{};
    std::array<std::uint64_t, kFiles> sizes_{};
    std::array<std::uint32_t, kFiles> versions_{};
    std::array<bool, kFiles> is_there_{};
    std::array<ModelKey, kFiles> keys_{};
    std::shared_ptr<std::atomic<std::uint64_t>> reads_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// How a model is to be placed; some are several plans, of which the first that fits counts.
inline constexpr std::uint32_t kPlanKinds = 9;
std::vector<PlanMaker> plan_makers(const plan::BlockTable& table, std::uint32_t kind,
                                   Bytes activations);

/// The machine and what runs on it.
class Scene : private Surroundings {
public:
    explicit Scene(const Variant& variant);
    ~Scene() override = default;

    /// What models may take of each device beside what is held for other purposes.
    [[nodiscard]] plan::PlanMachine room(const std::map<DeviceId, Bytes>& held) const override;
    [[nodiscard]] Bytes held(DeviceId device, device::Tag tag) const;

    /// The next allocation on a device is refused, and the one after that too if `is_twice`.
    void refuse_allocation(DeviceId device, bool is_twice);
    /// The `which`-th copy from now on fails.
    void fail_copy(DeviceId device, std::uint32_t which);
    void fail_emptying(DeviceId device);
    /// Loading and running find no more faults.
    void clear_faults();
    void clear_emptying_faults();

    Variant variant;
    Files files;
    device::Ledger ledger;
    device::sim::SimMachine machine;
    device::Transfers transfers{machine.devices(), ledger};
    VirtualClock clock;
    FixedWallClock wall{UtcTime{}};
    MemoryLog memory{Log{}, wall, [] { return std::vector<DeviceReading>{}; },
                     ModelManagementLines::off};
    Registry registry;
    PressureWatch pressure{[] { return std::optional(50.0); }, clock};
    FreeFlow flow;

private:
    Bytes release_kept() override;
    std::vector<CacheReport> empty_caches(machine::EmptyingCall call);
    void inject(DeviceId device) { machine.inject(device, faults_[device]); }

    std::map<DeviceId, device::sim::Faults> faults_;
    std::optional<DeviceId> refuses_again_;
};

}  // namespace ballast::residency::property
