#include "ballast/runtime/nodes/loaded_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

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

/// Whether realising one plan is realising the other.
bool is_same_placement(const plan::Plan& a, const plan::Plan& b) {
    return a.compute == b.compute && a.homes == b.homes && a.ring == b.ring;
}

}  // namespace

PartUse::PartUse(std::shared_ptr<LoadedPart> part, device::Reservation activations,
                 std::unique_ptr<PassListener> listener, WeightSource source, Traffic::Watch watch,
                 bool is_simulated)
    : part_(std::move(part)),
      activations_(std::move(activations)),
      listener_(std::move(listener)),
      source_(std::move(source)),
      watch_(std::move(watch)),
      is_simulated_(is_simulated) {
    ++part_->users_;
}

PartUse::~PartUse() {
    if (part_) --part_->users_;
}

LoadedPart::LoadedPart(Description description, std::shared_ptr<Workbench> bench)
    : description_(std::move(description)), bench_(std::move(bench)) {}

LoadedPart::~LoadedPart() { bench_->shelf.remove(*this); }

std::map<DeviceId, Bytes> LoadedPart::held() const {
    return store_ ? residency::held_by(store_->plan()) : std::map<DeviceId, Bytes>{};
}

PartUse LoadedPart::use(const models::StepShape& shape) {
    ensure(shape);
    bench_->shelf.touch(*this);
    const auto& plan = store_->plan();
    const bool is_simulated = bench_->is_simulated(plan.compute);
    auto activations = reserve_activations(plan.compute);
    std::unique_ptr<PassListener> listener;
    if (bench_->simulation() != nullptr)
        listener = std::make_unique<SimulatedPass>(*bench_->simulation(), plan.compute,
                                                   planned_.request.blocks);
    WeightSource source(store_, description_.compute_type, bench_->widening(plan.compute),
                        listener.get());
    return {shared_from_this(),
            std::move(activations),
            std::move(listener),
            std::move(source),
            Traffic::Watch(bench_->traffic()),
            is_simulated};
}

/// What the processor allocates is counted piece by piece; of other devices, as the plan says.
device::Reservation LoadedPart::reserve_activations(DeviceId compute) {
    const auto bytes = planned_.plan.activations;
    const auto use = bench_->ledger()->snapshot()[compute];
    // what is only kept for reuse must not be in the way
    if (use.limit && use.now + bytes > *use.limit) {
        bench_->clear_widening();
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
    policy_ = planner->policy();
    return *std::move(planner);
}

graph::PlannedBeside LoadedPart::plan_for(const models::StepShape& shape,
                                          const std::vector<LoadedPart*>& others) {
    const auto planner = planner_for(shape);
    std::vector<residency::Loaded> loaded;
    for (const auto* other : others)
        loaded.push_back({other->description().name, other->held(), !other->is_in_use()});
    const auto room = bench_->room();
    auto found = graph::plan_beside(room, loaded, planner);
    const auto& plan = found.planned.plan;
    if (plan.fits || plan.compute != kCpu) return found;
    // what else is held is known by now, and on the processor every allocation is checked
    auto tight = graph::plan_beside(room, loaded, planner, graph::Margin::none);
    return tight.planned.plan.fits ? std::move(tight) : std::move(found);
}

/// Beside everything that is loaded, on the device that computes.
bool LoadedPart::has_room_for(Bytes activations) const {
    auto room = bench_->room();
    for (const auto* part : bench_->shelf.all()) residency::take(room, part->held());
    return activations <= residency::room_on(room, store_->plan().compute);
}

void LoadedPart::ensure(const models::StepShape& shape) {
    if (store_ && shape_ == shape && has_room_for(planned_.plan.activations)) return;
    const auto others = bench_->shelf.others(*this);
    shape_.reset();  // until it is known that the store suffices
    auto found = plan_for(shape, others);
    planned_ = std::move(found.planned);
    const auto& plan = planned_.plan;
    if (!plan.fits) refuse(plan);
    // what is loaded stays where it does as well, for example after larger pictures
    const bool does_as_well = store_ && store_->plan().compute == plan.compute &&
                              store_->plan().moved <= plan.moved && has_room_for(plan.activations);
    if (!does_as_well) {
        const bool stays = store_ && is_same_placement(store_->plan(), plan);
        if (!stays) drop();
        for (const auto index : found.evicted) {
            bench_->log.info(fmt::format("{} makes room for {}", others[index]->description().name,
                                         description_.name));
            others[index]->drop();
        }
        if (!stays) load(plan);
    }
    shape_ = shape;
}

void LoadedPart::drop() {
    if (is_in_use()) throw std::logic_error("weights that somebody computes with cannot go");
    bench_->shelf.remove(*this);
    store_.reset();
}

void LoadedPart::refuse(const plan::Plan& plan) const {
    Error error{.code = Code::does_not_fit,
                .what = "cannot load " + description_.name,
                .why = to_string(plan.shortfall),
                .place = {.node = description_.node},
                .hint = "use a smaller picture or batch",
                .shortfall = plan.shortfall};
    const auto snapshot = bench_->ledger()->snapshot();
    for (const auto& [device, lack] : plan.shortfall) {
        const auto use = snapshot.find(device);
        if (use == snapshot.end() || !use->second.limit) continue;
        error.hint += fmt::format(", or raise the limit with --memory-limit {}={}",
                                  to_string(device), use->second.limit->count() + lack.missing());
    }
    throw Failure(std::move(error));
}

void LoadedPart::load(const plan::Plan& plan) {
    const Stopwatch stopwatch(bench_->clock, bench_->record, Phase::load);
    bench_->clear_widening();  // nothing computes now, and the room may be needed
    // positioned reads into our own memory: a map of the file would count twice in a limited
    // container, and its first touch is several times slower
    auto reader =
        value_or_throw(formats::open_reader(description_.file, formats::ReaderKind::positioned));
    if (bench_->simulation() != nullptr)
        reader = std::make_shared<SimulatedDisk>(std::move(reader), *bench_->simulation());
    const auto attempt = [&] {
        return weights::WeightStore::load({.reader = reader,
                                           .table = description_.table,
                                           .plan = plan,
                                           .ledger = bench_->ledger().get(),
                                           .transfers = &bench_->transfers()});
    };
    auto store = attempt();
    // memory that is kept for reuse counts, too
    if (!store && store.error().code == Code::does_not_fit && !trim_host_memory().is_zero())
        store = attempt();
    if (!store) {
        auto error = std::move(store).error();
        error.place.file = description_.file.string();
        throw Failure(at_node(std::move(error), description_.node));
    }
    store_ = *std::move(store);
    bench_->shelf.touch(*this);
    bench_->record.add_model(report(), store_);
    tell(store_->plan());
    bench_->log.info(fmt::format("loaded {}: {} in {:.2f} s, computes on {}", description_.name,
                                 to_string(description_.table.bytes()), stopwatch.seconds(),
                                 to_string(store_->plan().compute)));
}

/// What was asked for and what came of it, as ComfyUI-MultiGPU tells it; else only the reasons.
void LoadedPart::tell(const plan::Plan& plan) const {
    const auto say = [this](const std::vector<std::string>& lines) {
        for (const auto& line : lines) bench_->log.info(line);
    };
    for (const auto& warning : plan.warnings) bench_->log.warning(warning);
    if (policy_.mode == plan::Mode::automatic) {
        say(plan.explanation);
        return;
    }
    const plan::DistributedModel model{.blocks = planned_.request.blocks,
                                       .homes = plan.homes,
                                       .compute = plan.compute,
                                       .policy = policy_,
                                       .devices = bench_->machine().context.devices};
    say(plan::allocation_lines(description_.wish.allocation));
    for (const auto& warning : plan::distribution_warnings(model)) bench_->log.warning(warning);
    say(plan::distribution_tables(model));
    say(plan::loaded_lines(description_.table.bytes()));
}

graph::ModelReport LoadedPart::report() const {
    const auto& plan = store_->plan();
    return {.name = description_.name,
            .compute = plan.compute,
            .bytes = description_.table.bytes(),
            .blocks = description_.table.blocks().size(),
            .allocation =
                policy_.mode == plan::Mode::automatic ? "automatic" : plan::canonical(policy_),
            .homes = store_->realised(),
            .patched_blocks = 0,
            .plan_digest = plan::digest(store_->table(), plan)};
}

}  // namespace ballast::runtime::nodes
