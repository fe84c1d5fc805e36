#pragma once
// One component of a weight file (network, text encoder, autoencoder) whose weights are read when
// they are first needed and shared by everything that was made from the same file.

#include <filesystem>
#include <memory>
#include <string>

#include "ballast/engine/core/clock.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/runtime/nodes/record.hpp"
#include "ballast/runtime/tensor/weight_source.hpp"

namespace ballast::runtime::nodes {

/// What parts share: the account, the buffer for widening, what reports and the log are told.
struct Workbench {
    std::shared_ptr<device::Ledger> ledger = std::make_shared<device::Ledger>();
    WideningBuffer widening{*ledger};
    RealClock clock;
    Record record;
    Log log;
};

class LoadedPart {
public:
    struct Description {
        std::string name;  ///< for reports: "sd15.safetensors (unet)"
        std::filesystem::path file;
        plan::BlockTable table;
        at::ScalarType compute_type = at::kFloat;
    };
    LoadedPart(Description description, std::shared_ptr<Workbench> bench)
        : description_(std::move(description)), bench_(std::move(bench)) {}

    [[nodiscard]] const Description& description() const { return description_; }
    [[nodiscard]] bool is_loaded() const { return store_ != nullptr; }

    /// Reads the weights unless they are there. Throws `Failure`; nothing is kept then.
    void load();

    /// The weights for one pass; loads them first.
    [[nodiscard]] WeightSource weights();

private:
    [[nodiscard]] graph::ModelReport report() const;

    Description description_;
    std::shared_ptr<Workbench> bench_;
    std::shared_ptr<const weights::WeightStore> store_;
};

/// Throws `Failure` (`does_not_fit`, before anything is read) unless all parts that are not loaded
/// yet fit at once; then loads them.
void load_together(const std::vector<LoadedPart*>& parts, Workbench& bench);

}  // namespace ballast::runtime::nodes
