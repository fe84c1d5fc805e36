#include "ballast/graph/part_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ballast/engine/machine/diffusion_family.hpp"
#include "ballast/engine/plan/layer_type.hpp"

namespace ballast::graph {
namespace {

using machine::NumberFormat;

std::optional<NumberFormat> number_format(ElementType type) {
    switch (type) {
        case ElementType::f16: return NumberFormat::fp16;
        case ElementType::bf16: return NumberFormat::bf16;
        case ElementType::f32: return NumberFormat::fp32;
        case ElementType::f64: return NumberFormat::fp64;
        case ElementType::f8_e4m3: return NumberFormat::fp8_e4m3fn;
        case ElementType::f8_e5m2: return NumberFormat::fp8_e5m2;
        default: return std::nullopt;
    }
}

/// The number of parameters and the format of most of them.
machine::WeightsFile weights_of(const plan::BlockTable& table) {
    std::map<NumberFormat, double> elements;
    double params = 0;
    for (const auto& block : table.blocks())
        for (const auto& tensor : block.tensors) {
            double count = 1;
            for (const auto size : tensor.shape) count *= static_cast<double>(size);
            params += count;
            if (const auto format = number_format(tensor.type)) elements[*format] += count;
        }
    const auto formats =
        machine::supported_formats(machine::DiffusionFamily::sd15, machine::HalfSupport::extended);
    machine::WeightsFile weights{.params = params, .supported = {formats.begin(), formats.end()}};
    const auto most = std::ranges::max_element(
        elements, {}, [](const auto& format_and_count) { return format_and_count.second; });
    if (most != elements.end()) weights.majority = most->first;
    return weights;
}

/// What libtorch's attention on a processor holds per thread (flash attention in tiles: scores, the
/// sum and the largest of each row, and the rows' results, in fp32), for as many positions as the
/// shape has at most.
Bytes attention_scratch(PartKind kind, const models::StepShape& shape) {
    const auto positions = static_cast<std::uint64_t>(
        kind == PartKind::text_encoder ? shape.tokens : shape.height * shape.width);
    const std::uint64_t rows = positions >= 768 ? 256 : positions >= 192 ? 64 : 32;
    const std::uint64_t columns = std::min<std::uint64_t>(positions, 512);
    const std::uint64_t width = kind == PartKind::autoencoder ? 512 : 160;
    return Bytes{4 * rows * (columns + 2 + width)};
}

/// What is widened to fp32 of one block at a time. Of embeddings only
/// the rows that are looked up.
Bytes widened_of(const plan::BlockTable& table) {
    Bytes most;
    for (const auto& block : table.blocks()) {
        if (plan::layer_type(block) == "Embedding") continue;
        Bytes sum;
        for (const auto& tensor : block.tensors) {
            const auto format = number_format(tensor.type);
            if (!format || *format == NumberFormat::fp32) continue;
            Bytes wide{4};
            for (const auto size : tensor.shape)
                wide = wide.times(static_cast<std::uint64_t>(size));
            sum += wide;
        }
        most = std::max(most, sum);
    }
    return most;
}

/// Devices that are listed, but cannot store blocks, are refused by name.
Result<void> require_storage(const plan::Policy& policy, const machine::Assessment& assessment) {
    std::vector<DeviceId> named{policy.compute};
    for (const auto& entry : policy.entries) named.push_back(entry.device);
    if (policy.rest) named.push_back(*policy.rest);
    std::ranges::copy(policy.donors, std::back_inserter(named));
    for (const auto id : named) {
        const auto judged =
            std::ranges::find(assessment.devices, id, &machine::DeviceAssessment::id);
        if (judged == assessment.devices.end() || judged->cannot_store.empty()) continue;
        return fail(Error{
            .code = Code::not_available,
            .what = "cannot plan",
            .why = fmt::format("{} cannot store blocks: {}", to_string(id), judged->cannot_store),
            .place = {.key = to_string(id)},
            .hint = "name another device"});
    }
    return {};
}

/// Where the machine's rules put a helper model; only the processor is a reason to leave what the
/// cost model finds.
std::optional<DeviceId> compute_by_rule(const PlanningMachine& machine, PartKind kind) {
    if (kind == PartKind::network) return std::nullopt;
    const auto main = machine::default_compute_device(machine.assessment);
    const auto judged =
        std::ranges::find(machine.assessment.devices, main, &machine::DeviceAssessment::id);
    if (judged == machine.assessment.devices.end()) return std::nullopt;
    const auto device =
        kind == PartKind::text_encoder ? judged->placement.text_encoder : judged->placement.vae;
    return device == kCpu ? std::optional{kCpu} : std::nullopt;
}

/// The rules are exact to a few percent; a tenth is left for that. The processor's allocator takes
/// whole pages, and reuses blocks that are larger than needed.
Bytes allowance(Bytes activations, DeviceId device) {
    constexpr Bytes kPages{std::uint64_t{256} << 10U};
    return Bytes{activations.count() / 10} + (device == kCpu ? kPages : Bytes{});
}

bool asks_for_bf16(PartKind kind, const PlanningMachine& machine) {
    const auto& formats = machine.options.formats;
    switch (kind) {
        case PartKind::network: return formats.unet == "bf16";
        case PartKind::text_encoder: return formats.text_encoder == "bf16";
        case PartKind::autoencoder: return formats.vae == "bf16";
    }
    return false;
}

}  // namespace

PartKind kind_of(const models::sd::Part& part) {
    if (part.name == models::sd::kTextPart.name) return PartKind::text_encoder;
    return part.name == models::sd::kVaePart.name ? PartKind::autoencoder : PartKind::network;
}

Result<PartToPlan> part_to_plan(const formats::TensorDirectory& directory,
                                const models::sd::Part& part, models::StepShape shape) {
    const auto table = part.blocks(directory);
    if (!table) return fail(table.error());
    PartToPlan result{.name = fmt::format("{} ({})", directory.path().string(), part.name),
                      .blocks = plan::plan_blocks(*table),
                      .kind = kind_of(part)};
    result.weights = weights_of(*table);
    result.scratch = attention_scratch(result.kind, shape);
    result.widened = widened_of(*table);
    for (const auto bytes : {2, 4}) {
        shape.element_bytes = bytes;
        auto costs = part.costs(directory, shape);
        if (!costs) return fail(costs.error());
        result.costs.emplace(bytes, *std::move(costs));
    }
    return result;
}

Result<PartPlanner> PartPlanner::make(const PlanningMachine& machine, PartToPlan part,
                                      const PlacementWish& wish) {
    PartPlanner planner(machine, std::move(part));
    auto policy = plan::parse_allocation(wish.allocation, machine.context);
    if (!policy) return fail(std::move(policy).error());
    planner.policy_ = *std::move(policy);
    const auto& policy_read = planner.policy_;
    // who says nothing did not name the device that would compute by itself
    if (!wish.allocation.empty())
        if (auto usable = require_storage(policy_read, machine.assessment); !usable)
            return fail(std::move(usable).error());
    const auto kind = planner.part_.kind;
    planner.compute_ = wish.compute ? wish.compute : compute_by_rule(machine, kind);
    // "#cuda:1" distributes nothing, but says where to compute
    const bool is_named = wish.allocation.find('#') != std::string::npos;
    if (policy_read.mode == plan::Mode::automatic && is_named)
        planner.compute_ = policy_read.compute;
    planner.activations_ = wish.activations;
    planner.role_ = wish.role.value_or(
        kind == PartKind::text_encoder ? plan::ModelRole::text_encoder : plan::ModelRole::network);
    return planner;
}

/// Bytes of an activation on `device`. The runtime computes in fp32, or in bf16 if asked to. What
/// is only planned goes by ComfyUI's choice: text encoders compute in fp32, the others in 16 bits
/// where the device does.
std::int64_t PartPlanner::element_bytes(DeviceId device) const {
    if (machine_->kind == MachineKind::real) return asks_for_bf16(part_.kind, *machine_) ? 2 : 4;
    const auto* found = machine::find_device(machine_->profile, device);
    const auto question =
        machine::question_about(found != nullptr ? *found : machine::DeviceProfile{.id = device},
                                machine_->profile, machine_->options);
    auto format = NumberFormat::fp32;
    switch (part_.kind) {
        case PartKind::text_encoder: break;
        case PartKind::autoencoder:
            // as its weights: ComfyUI casts none of them
            format = machine::vae_format(question, machine::kBf16Only);
            break;
        case PartKind::network: {
            const auto stored = machine::stored_format(question, part_.weights);
            format =
                machine::compute_format(question, stored, part_.weights.supported).value_or(stored);
            break;
        }
    }
    return machine::bytes_of(format).count() <= 2 ? 2 : 4;
}

/// Beside the weights, the block that needs the most decides; unless the user does.
void PartPlanner::set_costs(plan::PlanRequest& request, DeviceId device, Margin margin) const {
    const auto element = element_bytes(device);
    if (const auto costs = part_.costs.find(element); costs != part_.costs.end())
        models::set_costs(request.blocks, costs->second);
    Bytes most;
    for (const auto& block : request.blocks)
        most = std::max(most, block.activation_bytes.value_or(Bytes{}));
    // of listed blocks the user says what they need
    if (margin == Margin::usual && !part_.costs.empty()) most += allowance(most, device);
    if (device == kCpu) most += part_.scratch.times(machine_->threads);
    const bool is_widened = device == kCpu || machine_->kind == MachineKind::real;
    if (is_widened) most += part_.widened;
    request.activations = activations_.value_or(most);
}

Planned PartPlanner::plan(const plan::PlanMachine& devices, Margin margin) const {
    Planned planned{.request = {.blocks = part_.blocks,
                                .role = role_,
                                .policy = policy_,
                                .compute = compute_,
                                .machine = devices,
                                .is_file_backed = part_.is_file_backed},
                    .plan = {}};
    auto& request = planned.request;
    // Activations depend on the format that the compute device computes in, and which device that
    // is can depend on them: where the first guess was wrong, the device found stays.
    const bool is_decided = policy_.mode != plan::Mode::automatic;
    const auto guess =
        is_decided ? policy_.compute
                   : compute_.value_or(machine::default_compute_device(machine_->assessment));
    set_costs(request, guess, margin);
    planned.plan = plan::make_plan(request);
    if (planned.plan.compute == guess) return planned;
    set_costs(request, planned.plan.compute, margin);
    request.compute = planned.plan.compute;
    planned.plan = plan::make_plan(request);
    return planned;
}

PlannedBeside plan_beside(const plan::PlanMachine& devices,
                          const std::vector<residency::Loaded>& loaded, const PartPlanner& planner,
                          Margin margin) {
    std::vector<Planned> tried;
    auto phase = residency::plan_phase(devices, loaded, [&](const plan::PlanMachine& left) {
        return tried.emplace_back(planner.plan(left, margin)).plan;
    });
    auto chosen = std::ranges::find(tried, phase.left,
                                    [](const Planned& each) { return each.request.machine; });
    return {.evicted = std::move(phase.evicted), .planned = std::move(*chosen)};
}

}  // namespace ballast::graph
