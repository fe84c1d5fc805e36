#pragma once
// One component of a weight file (network, text encoder, autoencoder) whose weights are read when
// they are first needed, placed by a plan for what is computed then. The registry owns the weights;
// a part only knows how to ask for them, and does so again when they have gone.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/residency/registry.hpp"
#include "ballast/graph/part_planner.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/runtime/nodes/workbench.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/weight_source.hpp"

namespace ballast::runtime::nodes {

/// The weights of a part for calls of one shape: while it lives, the part stays where it is, and
/// the activations of such a call are reserved where it computes.
class [[nodiscard]] PartUse {
public:
    PartUse(PartUse&& other) noexcept = default;
    PartUse& operator=(PartUse&& other) = delete;
    ~PartUse() = default;

    [[nodiscard]] const WeightSource& weights() const { return source_; }

    /// Runs `work`, whose arithmetic is the compute device's, and returns its result.
    template <typename Work>
    auto compute(Work&& work) const {
        std::optional<SimulatedArithmetic> simulated;
        if (is_simulated_) simulated.emplace();
        auto result = std::forward<Work>(work)();
        simulated.reset();
        if constexpr (std::is_same_v<decltype(result), at::Tensor>)
            return on_host(result);
        else
            return result;
    }

    /// A result of `compute` as the host holds it: after a simulated device computed, a copy that
    /// counts as the host's.
    [[nodiscard]] at::Tensor on_host(const at::Tensor& result) const {
        return is_simulated_ && result.defined() ? result.clone() : result;
    }

private:
    friend class LoadedPart;
    PartUse(residency::ModelUse model, device::Reservation activations,
            std::unique_ptr<PassListener> listener, WeightSource source, Traffic::Watch watch,
            bool is_simulated);

    residency::ModelUse model_;  ///< outlives the source
    device::Reservation activations_;
    std::unique_ptr<PassListener> listener_;
    WeightSource source_;
    Traffic::Watch watch_;
    bool is_simulated_;
};

/// For one thread.
class LoadedPart {
public:
    struct Description {
        std::string name;  ///< for reports: "sd15.safetensors (unet)"
        std::string node;  ///< id of the loader
        residency::ModelKey key;
        std::shared_ptr<const formats::TensorDirectory> directory;
        const models::sd::Part* part = nullptr;
        plan::BlockTable table;
        at::ScalarType compute_type = at::kFloat;
        graph::PlacementWish wish;
        residency::RetentionFlag retention;
        bool ejects_others = false;
    };
    LoadedPart(Description description, std::shared_ptr<Workbench> bench);

    /// Ready for calls of that shape: plans, lets go what must go, and reads the weights unless
    /// they are where the plan wants them, or as good for these calls. Throws `Failure`:
    /// `does_not_fit` before anything is read, naming the loader; what was loaded stays then.
    [[nodiscard]] PartUse use(const models::StepShape& shape);

private:
    [[nodiscard]] graph::PartPlanner planner_for(const models::StepShape& shape);
    [[nodiscard]] device::Reservation reserve_activations(DeviceId compute);
    void ensure(const models::StepShape& shape);
    void load(const graph::PartPlanner& planner);
    void tell(const weights::WeightStore& store) const;
    [[nodiscard]] graph::ModelReport report(const weights::WeightStore& store) const;

    Description description_;
    std::shared_ptr<Workbench> bench_;
    residency::ModelSource source_;
    residency::ModelHandle handle_;
    std::optional<models::StepShape> shape_;  ///< that the model was last planned for
    plan::Plan plan_;                         ///< the one made then
    std::vector<plan::PlanBlock> blocks_;     ///< what it was made of
    plan::Policy policy_;
};

}  // namespace ballast::runtime::nodes
