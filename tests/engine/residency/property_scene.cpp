#include "tests/engine/residency/property_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "ballast/engine/plan/planner.hpp"
#include "tests/support/pattern_file.hpp"
#include "tests/support/random.hpp"

namespace ballast::residency::property {
namespace {

using namespace ballast::literals;
using ballast::weights::bytes_at;

/// What models, results and others may hold there together.
constexpr Bytes capacity_of(DeviceId device) {
    if (device == kCard) return 96_KiB;
    return device == kOther ? 80_KiB : 128_KiB;
}

machine::MachineProfile profile_of(const Variant& variant) {
    machine::MachineProfile profile;
    // rounding up must not be what a load fails of
    for (const auto id : {kCard, kOther})
        profile.devices.push_back(
            {.id = id, .total = capacity_of(id) + 512_KiB, .granularity = variant.granularity});
    return profile;
}

plan::PlanMachine planning_machine(const Variant& variant) {
    plan::PlanMachine machine;
    for (const auto id : kDevices)
        machine.devices.push_back({.id = id,
                                   .total = capacity_of(id),
                                   .capacity = capacity_of(id),
                                   .flops = id == kCpu ? 1'000'000'000U : 100'000'000'000U});
    if (variant.is_one_pool) {
        machine.devices.front().pool = kOther;
        machine.devices.back().capacity = capacity_of(kCpu) + capacity_of(kOther);
    }
    for (const auto from : kDevices)
        for (const auto to : kDevices)
            if (from != to)
                machine.links.push_back({.from = from, .to = to, .bytes_per_s = 12'000'000'000U});
    machine.disk_bytes_per_s = 1'000'000'000U;
    return machine;
}

class CountingReader final : public formats::Reader {
public:
    CountingReader(std::shared_ptr<const Reader> reader,
                   std::shared_ptr<std::atomic<std::uint64_t>> reads)
        : reader_(std::move(reader)), reads_(std::move(reads)) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        ++*reads_;
        return reader_->read(offset, destination);
    }

private:
    std::shared_ptr<const Reader> reader_;
    std::shared_ptr<std::atomic<std::uint64_t>> reads_;
};

}  // namespace

Variant Variant::of(std::uint64_t seed) {
    ballast::testing::Random random(seed ^ 0x5eedU);
    return {.is_strict = random.once_in(3),
            .is_one_pool = random.once_in(3),
            .keeps_caches = random.once_in(2),
            .granularity = random.once_in(2) ? Bytes{512} : Bytes{1},
            .least_segment = random.once_in(2) ? 8_KiB : 1_B};
}

Files::Files(Bytes least_segment) : least_segment_(least_segment) {
    ballast::testing::Random random(1);
    for (std::size_t m = 0; m < kModels; ++m) {
        auto& size = sizes_[file_of(m)];
        std::vector<plan::BlockTensor> tensors;
        for (std::size_t b = 0; b < 4 + m % 3; ++b)
            for (const auto& [part, most] : {std::pair{"weight", 12'000U}, {"bias", 60U}}) {
                const auto bytes = random.between(most / 4, most);
                tensors.push_back(bytes_at(fmt::format("b{}.{}", b, part), size, bytes));
                size += bytes;
            }
        tables_[m] = plan::group_into_blocks(tensors);
    }
    for (std::size_t f = 0; f < kFiles; ++f) write(f);
}

std::filesystem::path Files::path(std::size_t file) const {
    return folder_ / fmt::format("f{}.bin", file);
}

std::string Files::name(std::size_t model) {
    return fmt::format("f{}.bin (m{})", file_of(model), model);
}

void Files::replace(std::size_t file) {
    ++versions_[file];
    write(file);
}

void Files::remove(std::size_t file) {
    std::filesystem::remove(path(file));
    is_there_[file] = false;
}

void Files::write(std::size_t file) {
    std::string bytes(sizes_[file], '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(content(file, versions_[file], i));
    const auto fresh = folder_.write("fresh", bytes);
    // versions of one size, written within a tick of the file system's clock, are told apart
    std::filesystem::last_write_time(
        fresh, std::filesystem::file_time_type{} + std::chrono::hours{versions_[file]});
    std::filesystem::rename(fresh, path(file));
    is_there_[file] = true;
    keys_[file] = model_key(path(file), {}).value();
}

ModelSource Files::source(std::size_t model) const {
    ModelSource source{.key = keys_[file_of(model)],
                       .name = name(model),
                       .table = tables_[model],
                       .least_segment = least_segment_};
    source.key.options = fmt::format("m{}", model);
    source.open = [file = source.key.file,
                   reads = reads_]() -> Result<std::shared_ptr<const formats::Reader>> {
        auto reader = formats::open_reader(file, formats::ReaderKind::positioned);
        if (!reader) return reader;
        return std::make_shared<CountingReader>(*std::move(reader), reads);
    };
    return source;
}

std::vector<PlanMaker> plan_makers(const plan::BlockTable& table, std::uint32_t kind,
                                   Bytes activations) {
    using plan::Mode;
    using plan::Policy;
    const auto bytes = table.bytes().count();
    const auto by = [&](Policy policy, std::optional<DeviceId> compute = std::nullopt) {
        return PlanMaker([blocks = plan::plan_blocks(table), policy = std::move(policy), compute,
                          activations](const plan::PlanMachine& machine) {
            return plan::make_plan({.blocks = blocks,
                                    .policy = policy,
                                    .compute = compute,
                                    .machine = machine,
                                    .activations = activations});
        });
    };
    const auto split = [&](DeviceId compute, std::vector<plan::PolicyEntry> entries,
                           DeviceId rest) {
        return by({.mode = Mode::bytes, .compute = compute, .entries = entries, .rest = rest});
    };
    const auto part = [&](DeviceId device, std::uint64_t percent) {
        return plan::PolicyEntry{.device = device, .bytes = Bytes{bytes * percent / 100}};
    };
    switch (kind) {
        case 0: return {by({}, kCard)};
        case 1: return {split(kCard, {part(kCard, 100)}, kCard)};
        case 2: return {split(kOther, {part(kOther, 60)}, kCpu)};
        case 3: return {split(kCard, {part(kCard, 35), part(kOther, 35)}, kCpu)};
        case 4: return {split(kOther, {part(kOther, 40), part(kCpu, 20)}, kDisk)};
        case 5: return {split(kCpu, {part(kCpu, 100)}, kCpu)};
        case 6: return {split(kCard, {part(kCard, 100)}, kCard), split(kCpu, {}, kDisk)};
        case 7: return {by({}, kOther)};
        default: return {by({})};
    }
}

Scene::Scene(const Variant& chosen)
    : variant(chosen),
      files(chosen.least_segment),
      machine(profile_of(chosen), std::make_shared<device::sim::VirtualTime>(), &ledger),
      registry(ledger, transfers, *this, Log{}, {.is_strict = chosen.is_strict, .memory = &memory}),
      flow({.registry = &registry,
            .ledger = &ledger,
            .devices = &machine.devices(),
            .memory = &memory,
            .clock = &clock,
            .log = Log{},
            .empty_caches = [this](machine::EmptyingCall call) { return empty_caches(call); },
            .release_kept = [] {},
            .host_used = [] { return Bytes{}; },
            .pressure = &pressure,
            .server = FreeFlow::Server::present,
            .checks = FreeFlow::Checks::on}) {
    for (const auto& device : planning_machine(variant).devices)
        // the host needs room for what is on its way, which plans do not know of
        ledger.set_limit(device.id, device.id == kCpu ? device.capacity + 32_MiB : device.capacity);
    if (variant.keeps_caches)
        for (const auto id : {kCard, kOther}) machine.keep_cache(id);
}

plan::PlanMachine Scene::room(const std::map<DeviceId, Bytes>&) const {
    auto left = planning_machine(variant);
    std::map<DeviceId, Bytes> others;
    for (const auto id : kDevices)
        others[id] = held(id, device::Tag::activations) + held(id, device::Tag::results);
    take(left, others);
    return left;
}

Bytes Scene::held(DeviceId device, device::Tag tag) const {
    const auto snapshot = ledger.snapshot();
    const auto use = snapshot.find(device);
    return use == snapshot.end() ? Bytes{} : use->second.tag(tag).now;
}

void Scene::refuse_allocation(DeviceId device, bool is_twice) {
    faults_[device].allocation = 1;
    refuses_again_ = is_twice ? std::optional(device) : std::nullopt;
    inject(device);
}

void Scene::fail_copy(DeviceId device, std::uint32_t which) {
    faults_[device].copy = which + 1;
    inject(device);
}

void Scene::fail_emptying(DeviceId device) {
    faults_[device].empty_cache = true;
    inject(device);
}

void Scene::clear_faults() {
    refuses_again_.reset();
    for (auto& [device, faults] : faults_) {
        faults.allocation.reset();
        faults.copy.reset();
        inject(device);
    }
}

void Scene::clear_emptying_faults() {
    for (auto& [device, faults] : faults_) {
        faults.empty_cache = false;
        inject(device);
    }
}

Bytes Scene::release_kept() {
    Bytes released;
    for (const auto& report : empty_caches(machine::EmptyingCall::forced))
        released += report.released;
    if (refuses_again_) inject(*refuses_again_);
    return released;
}

std::vector<CacheReport> Scene::empty_caches(machine::EmptyingCall call) {
    const auto policy = [this](DeviceId device) {
        if (device == kCpu) return DevicePolicy{};
        const bool is_pool = variant.is_one_pool && device == kOther;
        return DevicePolicy{.memory_class = is_pool ? machine::MemoryClass::unified
                                                    : machine::MemoryClass::discrete};
    };
    return residency::empty_caches(machine.devices(), {}, call, policy, {}, Log{});
}

}  // namespace ballast::residency::property
