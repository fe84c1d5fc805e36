#include <cmath>
#include <memory>
#include <vector>

#include "ballast/runtime/sampling/sigma_family.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr int kFlowTableSize = 1000;
constexpr int kFluxTableSize = 10000;

class FlowSigmas final : public SigmaFamily {
public:
    FlowSigmas(double shift, double multiplier)
        : shift_(shift), multiplier_(static_cast<float>(multiplier)) {
        for (int k = 1; k <= kFlowTableSize; ++k) {
            const float share = static_cast<float>(k) / static_cast<float>(kFlowTableSize);
            table_.push_back(sigma(share * multiplier_));
        }
    }

    [[nodiscard]] const std::vector<float>& table() const override { return table_; }

    [[nodiscard]] float timestep(float sigma) const override { return sigma * multiplier_; }

    [[nodiscard]] float sigma(float timestep) const override {
        return shifted(timestep / multiplier_);
    }

    [[nodiscard]] double sigma_of_percent(double percent) const override {
        if (percent <= 0.0) return 1.0;
        if (percent >= 1.0) return 0.0;
        return shifted(1.0 - percent);
    }

private:
    template <typename Number>
    [[nodiscard]] Number shifted(Number u) const {
        if (shift_ == 1.0) return u;
        const auto shift = static_cast<Number>(shift_);
        return shift * u / (1 + static_cast<Number>(shift_ - 1.0) * u);
    }

    double shift_;
    float multiplier_;
    std::vector<float> table_;
};

class FluxSigmas final : public SigmaFamily {
public:
    explicit FluxSigmas(double mu) : exp_mu_(std::exp(mu)) {
        for (int k = 1; k <= kFluxTableSize; ++k)
            table_.push_back(sigma(static_cast<float>(k) / static_cast<float>(kFluxTableSize)));
    }

    [[nodiscard]] const std::vector<float>& table() const override { return table_; }

    [[nodiscard]] float timestep(float sigma) const override { return sigma; }

    [[nodiscard]] float sigma(float timestep) const override { return shifted(timestep); }

    [[nodiscard]] double sigma_of_percent(double percent) const override {
        if (percent <= 0.0) return 1.0;
        if (percent >= 1.0) return 0.0;
        return shifted(1.0 - percent);
    }

private:
    template <typename Number>
    [[nodiscard]] Number shifted(Number t) const {
        const auto exp_mu = static_cast<Number>(exp_mu_);
        return exp_mu / (exp_mu + (1 / t - 1));
    }

    double exp_mu_;
    std::vector<float> table_;
};

}  // namespace

SigmaFamilyPtr flow_sigmas(double shift, double multiplier) {
    return std::make_shared<FlowSigmas>(shift, multiplier);
}

SigmaFamilyPtr flux_sigmas(double mu) { return std::make_shared<FluxSigmas>(mu); }

}  // namespace ballast::runtime::sampling
