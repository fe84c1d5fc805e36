#include "ballast/engine/machine/load_request.hpp"

#include <algorithm>

namespace ballast::machine {
namespace {

constexpr double kHeadRoom = 1.1;
constexpr double kNothing = 0.1;
constexpr double kRatioElsewhere = 0.4;

}  // namespace

double wanted_beside(const LoadNeeds& needs) {
    return std::max(needs.min_inference, needs.required + needs.extra_reserve);
}

double least_beside(const LoadNeeds& needs) {
    if (!needs.minimum) return wanted_beside(needs);
    return std::max(needs.min_inference, *needs.minimum + needs.extra_reserve);
}

double free_target(double missing, const LoadNeeds& needs) {
    return kHeadRoom * missing + wanted_beside(needs);
}

double minimum_weight_ratio(const DeviceProfile& device) {
    return is_nvidia(device) ? 0.0 : kRatioElsewhere;
}

double load_budget(double free, double loaded, double ratio, const LoadNeeds& needs) {
    const auto all = free + loaded;
    const auto share = std::min(all * ratio, all - needs.min_inference);
    const auto budget = std::max({0.0, all - least_beside(needs), share}) - loaded;
    return budget == 0 ? kNothing : budget;
}

}  // namespace ballast::machine
