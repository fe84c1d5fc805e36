#pragma once
// The tiny golden checkpoint with its tolerances, and its parts loaded as the product loads them.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ballast/runtime/nn/forward.hpp"
#include "ballast/runtime/tensor/weight_source.hpp"
#include "tests/support/golden_tensors.hpp"

namespace ballast::testing {

inline std::string golden_network(const std::string& file) {
    return std::string(BALLAST_TEST_DATA "/golden/networks/") + file;
}

/// Largest allowed deviations, as the reference file states them: [magnitude, seen, allowed].
class Tolerances {
public:
    explicit Tolerances(const std::string& file) {
        std::ifstream stream(golden_network("tolerances.json"));
        rows_ = nlohmann::json::parse(stream).at(file);
    }
    [[nodiscard]] double operator[](const std::string& tensor) const {
        return rows_.at(tensor).at(2).get<double>();
    }
    [[nodiscard]] double magnitude(const std::string& tensor) const {
        return rows_.at(tensor).at(0).get<double>();
    }

private:
    nlohmann::json rows_;
};

inline void expect_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                         const std::string& name) {
    ASSERT_EQ(actual.sizes(), expected.sizes()) << name;
    const auto difference =
        actual.to(at::kDouble).sub(expected.to(at::kDouble)).abs().max().item<double>();
    EXPECT_LE(difference, tolerance) << name;
}

/// Weights of one part, resident, in a compute type.
struct ResidentPart {
    ResidentPart(const std::string& file, plan::BlockTable table, at::ScalarType type = at::kFloat)
        : store(runtime::value_or_throw(
              weights::WeightStore::load({.reader = runtime::value_or_throw(formats::open_reader(
                                              file, formats::ReaderKind::positioned)),
                                          .table = table,
                                          .plan = plan::resident_plan(table, kCpu, std::nullopt),
                                          .ledger = &ledger}))),
          source(store, type, widening) {}

    device::Ledger ledger;
    runtime::WideningBuffer widening{ledger};
    std::shared_ptr<const weights::WeightStore> store;
    runtime::WeightSource source;
};

/// Keeps every module's output.
class Taps final : public runtime::nn::LayerListener {
public:
    void on_output(std::string_view module, const at::Tensor& output) override {
        outputs.insert_or_assign(std::string(module), output.clone());
    }
    std::map<std::string, at::Tensor> outputs;
};

}  // namespace ballast::testing
