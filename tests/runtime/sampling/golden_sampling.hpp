#pragma once
// The golden data of sampling: what the reference computed, and the models it was computed with.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ballast/runtime/sampling/model_sampling.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/golden_tensors.hpp"

namespace ballast::testing {

inline std::string golden_sampling(const std::string& file) {
    return std::string(BALLAST_TEST_DATA "/golden/sampling/") + file;
}

/// A part of a file, by value: what is iterated over must outlive the loop's head.
inline nlohmann::json golden_json(const std::string& file, const std::string& part = "") {
    std::ifstream stream(golden_sampling(file));
    return nlohmann::json::parse(stream).at(nlohmann::json::json_pointer(part));
}

/// Numbers, of which the files write those that JSON does not have as text.
inline double number_of(const nlohmann::json& value) {
    if (!value.is_string()) return value.get<double>();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::numeric_limits<double>::infinity();
}

inline std::vector<float> floats_of(const nlohmann::json& values) {
    std::vector<float> numbers;
    for (const auto& value : values) numbers.push_back(static_cast<float>(number_of(value)));
    return numbers;
}

/// Same length, and every value within `tolerance`, relative, of the expected one.
inline void expect_near_all(const std::vector<float>& actual, const std::vector<float>& expected,
                            double tolerance, const std::string& what) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], tolerance * std::abs(expected[i]))
            << what << ", value " << i;
}

/// Largest absolute difference; infinite for different shapes and for values that are not numbers.
inline double distance(const at::Tensor& a, const at::Tensor& b) {
    if (!a.sizes().equals(b.sizes())) return std::numeric_limits<double>::infinity();
    const double largest = a.to(at::kDouble).sub(b.to(at::kDouble)).abs().max().item<double>();
    return std::isnan(largest) ? std::numeric_limits<double>::infinity() : largest;
}

inline double magnitude(const at::Tensor& x) { return x.abs().max().item<double>(); }

/// The model of that name in schedules.json; nothing for families that are not ported.
inline std::optional<runtime::sampling::ModelSampling> model_named(const std::string& name) {
    using namespace runtime::sampling;
    const auto as_trained = [](Prediction prediction) {
        return ModelSampling(prediction, discrete_sigmas({}, TerminalSnr::as_trained));
    };
    if (name == "sd15_eps" || name == "sdxl_eps") return as_trained(Prediction::eps);
    if (name == "sd15_v") return as_trained(Prediction::v);
    if (name == "sd15_v_zsnr")
        return ModelSampling(Prediction::v, discrete_sigmas({}, TerminalSnr::zero));
    if (name == "sqrt_linear_pixart") {
        const BetaSchedule betas{
            .shape = BetaSchedule::Shape::sqrt_linear, .start = 0.0001, .end = 0.02};
        return ModelSampling(Prediction::eps, discrete_sigmas(betas, TerminalSnr::as_trained));
    }
    if (name == "flow_shift1") return ModelSampling(Prediction::flow, flow_sigmas(1.0, 1000.0));
    if (name == "flow_shift3") return ModelSampling(Prediction::flow, flow_sigmas(3.0, 1000.0));
    if (name == "flow_shift8") return ModelSampling(Prediction::flow, flow_sigmas(8.0, 1000.0));
    if (name == "flow_shift6_m1") return ModelSampling(Prediction::flow, flow_sigmas(6.0, 1.0));
    if (name == "flux_1.15") return ModelSampling(Prediction::flow, flux_sigmas(1.15));
    return std::nullopt;
}

}  // namespace ballast::testing
