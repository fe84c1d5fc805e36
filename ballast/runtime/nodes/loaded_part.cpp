#include "ballast/runtime/nodes/loaded_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "ballast/engine/core/sha256.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/plan/distribution_tables.hpp"

namespace ballast::runtime::nodes {
namespace {

/// Lets the time of a simulated device pass with its arithmetic.
class SimulatedPass final : public PassListener {
public:
    SimulatedPass(device::sim::SimMachine& machine, DeviceId device,
                  const std::vector<plan::PlanBlock>& blocks)
        : machine_(&machine), device_(device) {
        for (const auto& block : blocks) flops_.push_back(block.flops.value_or(0));
    }
    void on_block(plan::BlockId id) override { machine_->compute(device_, flops_[id.index]); }

private:
    device::sim::SimMachine* machine_;
    DeviceId device_;
    std::vector<std::uint64_t> flops_;
};

/// Lets the time of a simulated disk pass.
class SimulatedDisk final : public formats::Reader {
public:
    SimulatedDisk(std::shared_ptr<const formats::Reader> file, device::sim::SimMachine& machine)
        : file_(std::move(file)), machine_(&machine) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        machine_->read_disk(Bytes{destination.size()});
        return file_->read(offset, destination);
    }

private:
    std::shared_ptr<const formats::Reader> file_;
    device::sim::SimMachine* machine_;
};

/// Positioned reads into our own memory: a map of the file would count twice in a limited
/// container, and its first touch is several times slower.
Result<std::shared_ptr<const formats::Reader>> open_file(const std::filesystem::path& file,
                                                         device::sim::SimMachine* simulation) {
    auto reader = formats::open_reader(file, formats::ReaderKind::positioned);
    if (!reader || simulation == nullptr) return reader;
    return std::make_shared<SimulatedDisk>(*std::move(reader), *simulation);
}

/// "unet:0a1b2c3d", "clip:...", "vae:...": what ComfyUI-MultiGPU calls a model in its snapshots,
/// with the beginning of a digest of the file and how it is loaded.
std::string snapshot_label(const LoadedPart::Description& description) {
    Sha256 hash;
    hash.update(description.key.file.string());
    hash.update(description.key.options);
    const bool is_text = graph::kind_of(*description.part) == graph::PartKind::text_encoder;
    return fmt::format("{}:{}", is_text ? "clip" : description.part->name,
                       to_string(hash.finish()).substr(0, 8));
}

}  // namespace

PartUse::PartUse(residency::ModelUse model, device::Reservation activations,
                 std::unique_ptr<PassListener> listener, WeightSource source, Traffic::Watch watch,
                 bool is_simulated)
    : model_(std::move(model)),
      activations_(std::move(activations)),
      listener_(std::move(listener)),
      source_(std::move(source)),
      watch_(std::move(watch)),
      is_simulated_(is_simulated) {}

LoadedPart::LoadedPart(Description description, std::shared_ptr<Workbench> bench)
    : description_(std::move(description)),
      bench_(std::move(bench)),
      source_{.key = description_.key,
              .name = description_.name,
              .table = description_.table,
              .open = [file = description_.key.file, simulation = bench_->simulation()] {
                  return open_file(file, simulation);
              }} {
    bench_->registry().set_retention(description_.key, description_.retention);
}

PartUse LoadedPart::use(const models::StepShape& shape) {
    ensure(shape);
    auto model = bench_->registry().use(handle_);
    if (!model) throw Failure(at_node(std::move(model).error(), description_.node));
    const auto& weights = model->weights();
    const auto compute = weights->plan().compute;
    const bool is_simulated = bench_->is_simulated(compute);
    auto activations = reserve_activations(compute);
    std::unique_ptr<PassListener> listener;
    if (bench_->simulation() != nullptr)
        listener = std::make_unique<SimulatedPass>(*bench_->simulation(), compute, blocks_);
    WeightSource source(weights, description_.compute_type, bench_->widening(compute),
                        listener.get());
    return {*std::move(model),
            std::move(activations),
            std::move(listener),
            std::move(source),
            Traffic::Watch(bench_->traffic()),
            is_simulated};
}

/// What the processor allocates is counted piece by piece; of other devices, as the plan says.
device::Reservation LoadedPart::reserve_activations(DeviceId compute) {
    const auto bytes = plan_.activations;
    const auto use = bench_->ledger()->snapshot()[compute];
    // what is only kept for reuse must not be in the way
    if (use.limit && use.now + bytes > *use.limit) {
        bench_->clear_widening();
        bench_->transfers().release_staging();
        trim_host_memory();
    }
    if (compute == kCpu) return {};
    auto room = bench_->ledger()->reserve(compute, bytes, device::Tag::activations);
    if (room) return *std::move(room);
    throw Failure(at_node(std::move(room).error(), description_.node));
}

graph::PartPlanner LoadedPart::planner_for(const models::StepShape& shape) {
    auto part =
        value_or_throw(graph::part_to_plan(*description_.directory, *description_.part, shape));
    auto planner = graph::PartPlanner::make(bench_->machine(), std::move(part), description_.wish);
    if (!planner) throw Failure(at_node(std::move(planner).error(), description_.node));
    return *std::move(planner);
}

void LoadedPart::ensure(const models::StepShape& shape) {
    const auto& registry = bench_->registry();
    const bool is_ready = shape_ == shape && registry.is_loaded(handle_) &&
                          registry.has_room_for(handle_, plan_.activations);
    if (is_ready) return;
    shape_.reset();  // until it is known that the weights suffice
    load(planner_for(shape));
    shape_ = shape;
}

void LoadedPart::load(const graph::PartPlanner& planner) {
    const Stopwatch stopwatch(bench_->clock, bench_->record, Phase::load);
    std::vector<graph::Planned> tried;
    const auto usual = [&](const plan::PlanMachine& left) {
        return tried.emplace_back(planner.plan(left)).plan;
    };
    // what else is held is known by now, and on the processor every allocation is checked
    const auto tight = [&](const plan::PlanMachine& left) {
        auto planned = planner.plan(left, graph::Margin::none);
        if (planned.plan.compute != kCpu) return usual(left);
        return tried.emplace_back(std::move(planned)).plan;
    };
    const auto label = snapshot_label(description_);
    bench_->memory().snapshot(label, "pre-load");
    // what was said of a model that is there, by name or by another loader, stands
    std::optional<residency::RetentionFlag> retention;
    if (bench_->registry().weights(handle_) == nullptr) retention = description_.retention;
    auto loaded = bench_->registry().load({.source = &source_,
                                           .retention = retention,
                                           .plans = {usual, tight},
                                           .ejects_others = description_.ejects_others,
                                           .remedy = "use a smaller picture or batch"});
    if (!loaded) throw Failure(at_node(std::move(loaded).error(), description_.node));
    handle_ = loaded->handle;
    plan_ = std::move(loaded->plan);
    const auto chosen = std::ranges::find(tried, plan_, &graph::Planned::plan);
    if (chosen != tried.end()) blocks_ = std::move(chosen->request.blocks);
    policy_ = planner.policy();
    if (!loaded->is_read) return;
    if (graph::kind_of(*description_.part) == graph::PartKind::network)
        bench_->memory().snapshot(label, "post-weights");
    const auto store = bench_->registry().weights(handle_);
    bench_->record.add_model(report(*store), store);
    tell(*store);
    bench_->log.info(fmt::format("loaded {}: {} in {:.2f} s, computes on {}", description_.name,
                                 to_string(description_.table.bytes()), stopwatch.seconds(),
                                 to_string(store->plan().compute)));
    const bool is_network = graph::kind_of(*description_.part) == graph::PartKind::network;
    bench_->memory().snapshot(label, is_network ? "post-model" : "post-load");
    bench_->memory().load(fmt::format("after_{}", description_.part->name));
}

/// What was asked for and what came of it, as ComfyUI-MultiGPU tells it; else only the reasons.
void LoadedPart::tell(const weights::WeightStore& store) const {
    const auto& plan = store.plan();
    const auto say = [this](const std::vector<std::string>& lines) {
        for (const auto& line : lines) bench_->log.info(line);
    };
    for (const auto& warning : plan.warnings) bench_->log.warning(warning);
    if (policy_.mode == plan::Mode::automatic) {
        say(plan.explanation);
        return;
    }
    const plan::DistributedModel model{.blocks = blocks_,
                                       .homes = plan.homes,
                                       .compute = plan.compute,
                                       .policy = policy_,
                                       .devices = bench_->machine().context.devices};
    say(plan::allocation_lines(description_.wish.allocation));
    for (const auto& warning : plan::distribution_warnings(model)) bench_->log.warning(warning);
    say(plan::distribution_tables(model));
    say(plan::loaded_lines(description_.table.bytes()));
}

graph::ModelReport LoadedPart::report(const weights::WeightStore& store) const {
    const auto& plan = store.plan();
    return {.name = description_.name,
            .compute = plan.compute,
            .bytes = description_.table.bytes(),
            .blocks = description_.table.blocks().size(),
            .allocation =
                policy_.mode == plan::Mode::automatic ? "automatic" : plan::canonical(policy_),
            .homes = store.realised(),
            .patched_blocks = 0,
            .plan_digest = plan::digest(store.table(), plan)};
}

}  // namespace ballast::runtime::nodes
