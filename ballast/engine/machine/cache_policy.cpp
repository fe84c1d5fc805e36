#include "ballast/engine/machine/cache_policy.hpp"

namespace ballast::machine {
namespace {

constexpr Bytes kWorthReleasing{std::uint64_t{256} << 20U};

bool is_under_pressure(const EmptyingQuestion& question) {
    return question.available && *question.available < question.reserve.times(2) &&
           question.cached >= kWorthReleasing;
}

CacheAction on_unified(const EmptyingQuestion& question) {
    switch (question.call) {
        case EmptyingCall::forced: return CacheAction::release;
        case EmptyingCall::buffer_reset: return CacheAction::nothing;
        case EmptyingCall::soft: break;
    }
    return is_under_pressure(question) ? CacheAction::release : CacheAction::synchronise;
}

}  // namespace

std::string_view to_string(CacheAction action) {
    switch (action) {
        case CacheAction::release: return "release";
        case CacheAction::synchronise: return "synchronise";
        case CacheAction::nothing: return "nothing";
    }
    return "";
}

CacheAction cache_action(const EmptyingQuestion& question) {
    switch (question.memory_class) {
        case MemoryClass::none: return CacheAction::nothing;
        case MemoryClass::unified: return on_unified(question);
        case MemoryClass::shared:
        case MemoryClass::partitioned:
        case MemoryClass::coherent:
        case MemoryClass::discrete: break;
    }
    return CacheAction::release;
}

bool empties_after_free(bool left_entirely, VramState state, Bytes kept, Bytes free) {
    if (left_entirely) return true;
    return state != VramState::high && kept.times(4) > free;
}

bool reached_the_system(Bytes released, std::optional<Bytes> before, std::optional<Bytes> after) {
    if (!before || !after) return true;
    return after->minus_or_zero(*before).times(10) >= released.times(8);
}

std::vector<EmptyingStep> emptying_steps(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::cuda:
            return {EmptyingStep::synchronise, EmptyingStep::release_blocks,
                    EmptyingStep::collect_shared_handles};
        case DeviceKind::xpu: return {EmptyingStep::synchronise, EmptyingStep::release_blocks};
        case DeviceKind::mps:
        case DeviceKind::npu:
        case DeviceKind::mlu:
        case DeviceKind::corex:
        case DeviceKind::privateuseone: return {EmptyingStep::release_blocks};
        case DeviceKind::cpu:
        case DeviceKind::directml:
        case DeviceKind::disk: break;
    }
    return {};
}

}  // namespace ballast::machine
