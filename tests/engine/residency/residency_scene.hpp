#pragma once
// A small machine with two simulated cards, weight files on disk, and a registry that loads them.
//
// A block of a model is 1 MiB, which stands for 1 GiB. Every block is a segment of its own. What a
// file holds follows from the offset alone, so that the bytes of any block can be checked.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "ballast/engine/residency/free_flow.hpp"
#include "ballast/engine/residency/invariants.hpp"
#include "tests/support/pattern_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::residency::testing {

using namespace ballast::literals;

inline constexpr DeviceId kA{DeviceKind::cuda, 0};
inline constexpr DeviceId kB{DeviceKind::cuda, 1};
inline constexpr Bytes kBlock = 1_MiB;

constexpr Bytes blocks(std::uint64_t count) { return kBlock.times(count); }

inline constexpr RetentionFlag kKeep{.value = Retention::keep};
inline constexpr RetentionFlag kPinned{.value = Retention::keep, .is_said = true};
inline constexpr RetentionFlag kFlagged{.value = Retention::release, .is_said = true};

/// What each device may hold.
struct Capacities {
    Bytes cpu = blocks(64);
    Bytes a = blocks(24);
    Bytes b = blocks(12);
};

/// Capacities without what the account has beside models.
class FixedRoom final : public Surroundings {
public:
    FixedRoom(Capacities capacities, const device::Ledger& ledger) : ledger_(&ledger) {
        for (const auto& [id, capacity] :
             {std::pair{kCpu, capacities.cpu}, {kA, capacities.a}, {kB, capacities.b}})
            machine.devices.push_back({.id = id, .total = capacity, .capacity = capacity});
        for (const auto from : {kCpu, kA, kB})
            for (const auto to : {kCpu, kA, kB})
                if (from != to) machine.links.push_back({from, to, 12'000'000'000, 10'000});
        machine.disk_bytes_per_s = 1'000'000'000;
    }

    [[nodiscard]] plan::PlanMachine room(const std::map<DeviceId, Bytes>& held) const override {
        auto left = machine;
        std::map<DeviceId, Bytes> others;
        for (const auto& [device, use] : ledger_->snapshot()) {
            const auto models = held.find(device);
            others[device] = use.now.minus_or_zero(models == held.end() ? Bytes{} : models->second);
        }
        take(left, others);
        return left;
    }
    void make_way() override { ++ways_made; }
    Bytes release_kept() override {
        ++releases;
        return kept;
    }

    plan::PlanMachine machine;
    int ways_made = 0;
    int releases = 0;
    Bytes kept{};  ///< what `release_kept` says

private:
    const device::Ledger* ledger_;
};

/// Counts what is read, in all files.
class CountingReader final : public formats::Reader {
public:
    CountingReader(std::shared_ptr<const formats::Reader> inner, std::atomic<std::uint64_t>& bytes)
        : inner_(std::move(inner)), bytes_(&bytes) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        *bytes_ += destination.size();
        return inner_->read(offset, destination);
    }

private:
    std::shared_ptr<const formats::Reader> inner_;
    std::atomic<std::uint64_t>* bytes_;
};

inline machine::MachineProfile profile_of(Capacities capacities) {
    machine::MachineProfile profile;
    profile.devices = {{.id = kA, .total = capacities.a}, {.id = kB, .total = capacities.b}};
    for (const auto& [from, to] : {std::pair{kA, kB}, {kB, kA}})
        profile.links.push_back({.from = from, .to = to, .gbps = 12, .peer = true});
    return profile;
}

class Scene {
public:
    explicit Scene(Capacities capacities = {}, bool is_strict = false)
        : machine(profile_of(capacities), std::make_shared<device::sim::VirtualTime>(), &ledger),
          transfers(machine.devices(), ledger),
          room(capacities, ledger),
          registry(ledger, transfers, room, log, {.is_strict = is_strict, .memory = &memory}) {}

    /// Writes a file of that many blocks; no two files have the same bytes.
    std::filesystem::path write(const std::string& file, std::size_t count) {
        const auto lead = 64 * ++files_;
        std::string content(lead + kBlock.count() * count, '\0');
        for (std::size_t i = 0; i < content.size(); ++i)
            content[i] = static_cast<char>(weights::PatternReader::at(i));
        leads_[file] = lead;
        return folder.write(file, content);
    }

    /// The blocks of a part of a file, from `first` on, as a model.
    [[nodiscard]] ModelSource part(const std::string& file, const std::string& part,
                                   std::size_t first, std::size_t count) {
        std::vector<plan::BlockTensor> tensors;
        auto offset = leads_.at(file) + first * kBlock.count();
        for (std::size_t i = 0; i < count; ++i)
            for (const auto& [name, size] :
                 {std::pair{"weight", kBlock.count() - 64}, {"bias", std::uint64_t{64}}}) {
                tensors.push_back(
                    weights::bytes_at("blocks." + std::to_string(i) + "." + name, offset, size));
                offset += size;
            }
        const auto path = folder / file;
        return {.key = model_key(path, part).value(),
                .name = file + " (" + part + ")",
                .table = plan::group_into_blocks(tensors),
                .open = [this, path]() -> Result<std::shared_ptr<const formats::Reader>> {
                    ++opened;
                    auto reader = formats::open_reader(path, formats::ReaderKind::positioned);
                    if (!reader) return reader;
                    return std::make_shared<CountingReader>(*std::move(reader), bytes_read);
                },
                .least_segment = 1_B};
    }

    /// A file of one model: "name.safetensors (unet)".
    ModelSource model(const std::string& name, std::size_t count) {
        write(name + ".safetensors", count);
        return part(name + ".safetensors", "unet", 0, count);
    }

    /// Plans for all of the model on one card; what has no room there is streamed.
    static PlanMaker on(DeviceId card, const ModelSource& source, Bytes activations = {}) {
        return [card, activations,
                list = plan::plan_blocks(source.table)](const plan::PlanMachine& left) {
            return plan::make_plan(
                {.blocks = list, .compute = card, .machine = left, .activations = activations});
        };
    }
    /// The same, for a model that must be resident as a whole: nothing of it stays in its file.
    static PlanMaker whole(DeviceId card, const ModelSource& source) {
        return [card, table = source.table](const plan::PlanMachine& left) {
            return plan::resident_plan(table, card, left.find(card)->capacity);
        };
    }
    /// Plans as an allocation text wants it.
    PlanMaker as(const std::string& text, const ModelSource& source, Bytes activations = {}) const {
        plan::AllocationContext context{.compute = kA};
        for (const auto& device : room.machine.devices)
            context.devices.push_back({device.id, device.total});
        return [policy = plan::parse_allocation(text, context).value(), activations,
                list = plan::plan_blocks(source.table)](const plan::PlanMachine& left) {
            return plan::make_plan(
                {.blocks = list, .policy = policy, .machine = left, .activations = activations});
        };
    }

    Result<Loading> load(const ModelSource& source, PlanMaker plan, RetentionFlag flag = {},
                         bool ejects_others = false) {
        return registry.load({.source = &source,
                              .retention = flag,
                              .plans = {std::move(plan)},
                              .ejects_others = ejects_others,
                              .remedy = "choose a smaller model"});
    }
    /// Writes, loads on a card and uses once.
    ModelHandle loaded(const std::string& name, std::size_t count, DeviceId card = kA,
                       RetentionFlag flag = {}) {
        const auto source = model(name, count);
        return touch(load(source, on(card, source), flag).value().handle);
    }
    ModelHandle touch(ModelHandle handle) {
        static_cast<void>(registry.use(handle).value());
        return handle;
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const auto& model : registry.models())
            list.push_back(model.name.substr(0, model.name.find('.')));
        return list;
    }
    [[nodiscard]] ModelStatus status(ModelHandle handle) const {
        for (const auto& model : registry.models())
            if (model.handle == handle) return model;
        ADD_FAILURE() << "the model is not loaded";
        return {};
    }
    [[nodiscard]] Bytes held(DeviceId device) const { return ledger.snapshot()[device].now; }
    /// Bytes that were copied to or from a device so far, whoever asked for it.
    [[nodiscard]] Bytes copied(DeviceId device) const {
        Bytes sum;
        for (const auto& use : machine.link_use())
            if (use.from == device || use.to == device) sum += use.bytes;
        return sum;
    }
    /// Reads every block of a loaded model where it computes.
    void expect_content(ModelHandle handle) {
        const auto use = registry.use(handle);
        ASSERT_TRUE(use.has_value()) << to_string(use.error());
        const auto& store = *use->weights();
        for (std::uint32_t b = 0; b < store.table().blocks().size(); ++b) {
            const auto pin = store.pin({b});
            ASSERT_TRUE(pin.has_value()) << to_string(pin.error());
            for (std::size_t t = 0; t < pin->block().tensors.size(); ++t)
                ASSERT_TRUE(is_pattern(pin->block().tensors[t].offset, pin->bytes(t)))
                    << store.table()[{b}].name;
        }
    }
    void expect_nothing_held() const {
        for (const auto& [device, use] : ledger.snapshot())
            EXPECT_EQ(use.now, Bytes{}) << to_string(device);
        for (const auto& device : machine.devices().all())
            EXPECT_EQ(device->memory().held, Bytes{}) << to_string(device->id());
    }
    [[nodiscard]] bool says(LogLevel least, const std::string& text) const {
        for (const auto& line : lines->lines(least))
            if (line.find(text) != std::string::npos) return true;
        return false;
    }

    ballast::testing::TemporaryFolder folder;
    std::atomic<std::uint64_t> bytes_read{0};
    int opened = 0;
    device::Ledger ledger;
    device::sim::SimMachine machine;
    device::Transfers transfers;
    FixedRoom room;
    std::shared_ptr<CollectingSink> lines = std::make_shared<CollectingSink>();
    Log log{{lines}};
    FixedWallClock wall_clock{UtcTime{}};
    /// Called whenever the memory log asks for readings.
    std::function<void()> on_reading = [] {};
    MemoryLog memory{log, wall_clock,
                     [this] {
                         on_reading();
                         return std::vector<DeviceReading>{};
                     },
                     ModelManagementLines::on};
    Registry registry;

private:
    static bool is_pattern(std::uint64_t offset, std::span<const std::byte> bytes) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (bytes[i] != weights::PatternReader::at(offset + i)) return false;
        return true;
    }

    std::size_t files_ = 0;
    std::map<std::string, std::uint64_t> leads_;
};

/// What must be equal if nothing happened. (Uses are not part of it: looking may be one.)
struct Trace {
    explicit Trace(const Scene& scene)
        : picture(photograph(scene.registry, scene.ledger)),
          bytes_read(scene.bytes_read),
          copies(scene.transfers.counts()),
          links(scene.machine.link_use()) {}

    Photograph picture;
    std::uint64_t bytes_read;
    device::TransferCounts copies;
    std::vector<device::sim::LinkUse> links;
};

inline void expect_unchanged(const Trace& before, const Scene& scene) {
    const Trace now(scene);
    EXPECT_EQ(now.picture.models, before.picture.models);
    EXPECT_EQ(now.picture.stores, before.picture.stores);
    for (const auto& [device, use] : before.picture.ledger)
        EXPECT_EQ(now.picture.ledger.at(device).now, use.now) << to_string(device);
    EXPECT_EQ(now.bytes_read, before.bytes_read);
    EXPECT_EQ(now.copies, before.copies);
    EXPECT_EQ(now.links, before.links);
}

}  // namespace ballast::residency::testing
