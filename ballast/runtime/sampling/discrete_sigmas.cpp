#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "ballast/runtime/sampling/sigma_family.hpp"

namespace ballast::runtime::sampling {

namespace {

/// "Before the first step", for comparisons with any sigma.
constexpr double kAboveEverySigma = 999999999.9;
constexpr std::size_t kDistilledTimesteps = 50;

/// A table with a geometric way between its entries. Entry i belongs to training timestep
/// i * stride + stride - 1.
class DiscreteSigmas final : public SigmaFamily {
public:
    DiscreteSigmas(const std::vector<double>& sigmas, std::size_t stride)
        : stride_(static_cast<float>(stride)) {
        for (const double sigma : sigmas) {
            table_.push_back(static_cast<float>(sigma));
            logs_.push_back(static_cast<float>(std::log(sigma)));
        }
    }

    [[nodiscard]] const std::vector<float>& table() const override { return table_; }

    [[nodiscard]] float timestep(float sigma) const override {
        const float wanted = std::log(sigma);
        const auto nearest = std::min_element(
            logs_.begin(), logs_.end(),
            [wanted](float a, float b) { return std::abs(wanted - a) < std::abs(wanted - b); });
        return static_cast<float>(nearest - logs_.begin()) * stride_ + (stride_ - 1.0F);
    }

    [[nodiscard]] float sigma(float timestep) const override {
        const float last = static_cast<float>(logs_.size() - 1);
        const float index = std::clamp((timestep - (stride_ - 1.0F)) / stride_, 0.0F, last);
        const auto low = static_cast<std::size_t>(std::floor(index));
        const auto high = static_cast<std::size_t>(std::ceil(index));
        const float part = index - std::floor(index);
        return std::exp((1.0F - part) * logs_[low] + part * logs_[high]);
    }

    [[nodiscard]] double sigma_of_percent(double percent) const override {
        if (percent <= 0.0) return kAboveEverySigma;
        if (percent >= 1.0) return 0.0;
        return sigma(static_cast<float>((1.0 - percent) * 999.0));
    }

private:
    float stride_;
    std::vector<float> table_;
    std::vector<float> logs_;
};

}  // namespace

SigmaFamilyPtr discrete_sigmas(const BetaSchedule& betas, TerminalSnr terminal) {
    return std::make_shared<DiscreteSigmas>(sigma_table(betas, terminal), 1);
}

SigmaFamilyPtr distilled_sigmas(const BetaSchedule& betas, TerminalSnr terminal) {
    const std::vector<double> all = sigma_table(betas, terminal);
    const std::size_t stride = std::max<std::size_t>(all.size() / kDistilledTimesteps, 1);
    const std::size_t count = std::min(kDistilledTimesteps, all.size());
    std::vector<double> kept(count);
    for (std::size_t i = 0; i < count; ++i) kept[count - 1 - i] = all[all.size() - 1 - i * stride];
    return std::make_shared<DiscreteSigmas>(kept, stride);
}

}  // namespace ballast::runtime::sampling
