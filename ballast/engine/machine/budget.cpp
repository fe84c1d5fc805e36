#include "ballast/engine/machine/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ballast/engine/machine/inference_reserve.hpp"

namespace ballast::machine {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kGiB = 1024.0 * kMiB;
constexpr double kUnifiedShare = 0.95;
constexpr double kCardShare = 0.88;
constexpr double kSmallestPoolReserve = 2 * kGiB;
constexpr double kLargestPoolReserve = 8 * kGiB;
constexpr double kWindowsShareReserve = 500 * kMiB;
constexpr Bytes kStagingRing{std::uint64_t{256} << 20U};

double as_double(Bytes bytes) { return static_cast<double>(bytes.count()); }

/// Zero for negative amounts; what no count can hold becomes the largest.
Bytes floored(double amount) {
    constexpr double kTooMany = 18446744073709551616.0;  // 2^64
    if (amount >= kTooMany) return Bytes{std::numeric_limits<std::uint64_t>::max()};
    return Bytes{amount > 0 ? static_cast<std::uint64_t>(std::floor(amount)) : 0};
}

bool is_cpu(const DeviceQuestion& question) { return question.device.id.kind == DeviceKind::cpu; }

/// A sixteenth, as ComfyUI's own allocator leaves it to the system on a shared pool.
double pool_reserve(double total) {
    return std::clamp(total / 16, kSmallestPoolReserve, kLargestPoolReserve);
}

double reserve_of(const DeviceQuestion& question, std::optional<Bytes> total) {
    if (is_cpu(question))
        return total ? std::min(pool_reserve(as_double(*total)), as_double(*total) / 4) : 0;
    if (question.memory_class == MemoryClass::none) return 0;
    if (!question.options.reserve) {
        if (question.memory_class == MemoryClass::unified)
            return total ? pool_reserve(as_double(*total)) : kSmallestPoolReserve;
        if (question.memory_class == MemoryClass::partitioned && is_under_windows(question.system))
            return kWindowsShareReserve;
    }
    return extra_reserve(question.system, total, question.options.reserve);
}

/// Windows grants an integrated GPU its carve-out and, of the rest, what 16 GB leave of it, but
/// between half and 80 percent (vendor's porting guide). Elsewhere the driver's total is the grant.
std::optional<Bytes> granted_by_windows(const DeviceQuestion& question) {
    constexpr double kLeft = 16e9;
    const auto& device = question.device;
    if (question.memory_class != MemoryClass::partitioned || question.system != System::windows ||
        !device.carveout || !question.host.total)
        return std::nullopt;
    const auto rest = as_double(*question.host.total);
    return *device.carveout + floored(std::clamp(rest - kLeft, rest * 0.5, rest * 0.8));
}

/// The most that the system lets this device hold, where it says so.
std::optional<Bytes> granted(const DeviceQuestion& question) {
    if (question.memory_class != MemoryClass::shared &&
        question.memory_class != MemoryClass::partitioned)
        return std::nullopt;
    if (question.device.working_set) return question.device.working_set;
    return granted_by_windows(question);
}

std::optional<Bytes> static_budget(const DeviceQuestion& question, double reserve) {
    auto total = total_memory(question);
    if (!total) return std::nullopt;
    const auto grant = granted(question);
    if (question.memory_class == MemoryClass::unified)
        return floored(kUnifiedShare * as_double(*total) - reserve);
    if (is_cpu(question)) return floored(as_double(*total) - reserve);
    if (question.memory_class == MemoryClass::none) return Bytes{};
    if (question.memory_class == MemoryClass::partitioned && grant)
        total = std::min(*total, *grant);
    auto result = floored(kCardShare * as_double(*total) - (0.8 * kGiB + reserve));
    // Metal fails an allocation beyond its working set, whatever the RAM
    if (question.memory_class == MemoryClass::shared && grant) result = std::min(result, *grant);
    return result;
}

struct Capacity {
    double bytes = 0;
    std::string limited_by;

    void cap(double most, std::string_view by) {
        if (most >= bytes) return;
        bytes = most;
        limited_by = by;
    }
};

/// Before the user's limit.
Capacity capacity_now(const DeviceQuestion& question, const FreeMemory& free, double reserve,
                      std::optional<Bytes> static_budget) {
    Capacity now{as_double(*free.bytes) + as_double(question.holding.loaded), free.source};
    if (const auto grant = granted(question))
        now.cap(as_double(*grant), "the working set that the system grants");
    if (const auto limit = question.options.limits.find(question.device.id);
        limit != question.options.limits.end())
        now.cap(as_double(limit->second), "--memory-limit");
    now.bytes -= reserve;
    if (question.memory_class == MemoryClass::unified && static_budget)
        now.cap(as_double(*static_budget), "the class's share of the pool");
    return now;
}

}  // namespace

Budget budget(const DeviceQuestion& question, const FreeMemory& free) {
    const auto total = total_memory(question);
    const auto reserve = reserve_of(question, total);
    Budget result{.reserve = floored(reserve), .static_budget = static_budget(question, reserve)};
    const bool is_unused = question.memory_class == MemoryClass::none && !is_cpu(question);
    if (is_unused || !free.bytes) return result;
    const auto now = capacity_now(question, free, reserve, result.static_budget);
    result.weights_now = floored(now.bytes);
    result.limited_by = now.limited_by;
    return result;
}

Bytes pinned_limit(const DeviceQuestion& question) {
    const auto& options = question.options;
    const bool is_pinning_kind = is_nvidia(question.device) || is_hip(question.device);
    const auto host = host_total(question.host);
    if (!options.pinned_memory || !is_pinning_kind || !host) return {};
    switch (question.memory_class) {
        case MemoryClass::none:
        case MemoryClass::shared: return {};
        case MemoryClass::unified: return std::min(kStagingRing, *host);
        case MemoryClass::partitioned: return floored(0.40 * as_double(*host));
        case MemoryClass::coherent:
        case MemoryClass::discrete: break;
    }
    return floored((is_under_windows(question.system) ? 0.40 : 0.95) * as_double(*host));
}

int offload_streams(const DeviceQuestion& question) {
    const auto kind = question.device.id.kind;
    const bool can_overlap = question.memory_class == MemoryClass::discrete ||
                             question.memory_class == MemoryClass::coherent ||
                             question.memory_class == MemoryClass::partitioned;
    if (!can_overlap || (kind != DeviceKind::cuda && kind != DeviceKind::xpu)) return 0;
    return question.options.streams.value_or(kind == DeviceKind::cuda ? 2 : 0);
}

Error does_not_fit(const DeviceQuestion& question, const Budget& budget, Bytes needed) {
    const auto available = budget.weights_now.value_or(Bytes{});
    const auto name = to_string(question.device.id);
    Error error{
        .code = Code::does_not_fit,
        .what = fmt::format("the weights do not fit on {}", name),
        .why = fmt::format("needed {}, available {} after a reserve of {}", to_string(needed),
                           to_string(available), to_string(budget.reserve)),
        .hint =
            "free memory, use a smaller number format, or leave part of the weights to "
            "another device",
        .shortfall = {{question.device.id, {needed.count(), available.count()}}}};
    const bool is_shared_pool = question.memory_class == MemoryClass::unified ||
                                question.memory_class == MemoryClass::shared;
    if (is_shared_pool) {
        error.why += fmt::format("; {} and the processor share one pool of memory", name);
        error.hint =
            "moving weights to the processor frees nothing here: close other programs, "
            "use a smaller number format, or let the weights be read from disk at use";
    }
    return error;
}

}  // namespace ballast::machine
