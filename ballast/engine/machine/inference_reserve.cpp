#include "ballast/engine/machine/inference_reserve.hpp"

#include <variant>

namespace ballast::machine {
namespace {

using namespace ballast::literals;

constexpr Bytes kReserve = 400_MiB;
constexpr Bytes kWindowsReserve = 600_MiB;
constexpr Bytes kLargeWindowsReserve = 700_MiB;
constexpr Bytes kLargeAbove = 15'360_MiB;
constexpr double kInferenceGib = 0.8;

double real(Bytes bytes) { return static_cast<double>(bytes.count()); }

Bytes default_reserve(System system, std::optional<Bytes> total) {
    if (system != System::windows) return kReserve;
    return total.value_or(Bytes{}) > kLargeAbove ? kLargeWindowsReserve : kWindowsReserve;
}

}  // namespace

double extra_reserve(System system, std::optional<Bytes> total,
                     const std::optional<Reserve>& said) {
    if (said) {
        if (const auto* bytes = std::get_if<Bytes>(&*said)) return real(*bytes);
        if (const auto* percent = std::get_if<Percent>(&*said); percent != nullptr && total)
            return real(*total) * percent->value / 100.0;
    }
    return real(default_reserve(system, total));
}

double min_inference(System system, std::optional<Bytes> total,
                     const std::optional<Reserve>& said) {
    return kInferenceGib * real(1_GiB) + extra_reserve(system, total, said);
}

}  // namespace ballast::machine
