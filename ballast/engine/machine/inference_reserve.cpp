#include "ballast/engine/machine/inference_reserve.hpp"

namespace ballast::machine {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kActivations = 0.8 * 1024 * kMiB;
constexpr Bytes kLargeCard{std::uint64_t{15360} << 20U};

}  // namespace

double extra_reserve(System system, std::optional<Bytes> total,
                     const std::optional<Reserve>& said) {
    if (said) {
        if (const auto* bytes = std::get_if<Bytes>(&*said))
            return static_cast<double>(bytes->count());
        if (total)
            return std::get<Percent>(*said).value / 100 * static_cast<double>(total->count());
    }
    if (system != System::windows) return 400 * kMiB;
    return total && *total > kLargeCard ? 700 * kMiB : 600 * kMiB;
}

double min_inference(System system, std::optional<Bytes> total,
                     const std::optional<Reserve>& said) {
    return kActivations + extra_reserve(system, total, said);
}

}  // namespace ballast::machine
