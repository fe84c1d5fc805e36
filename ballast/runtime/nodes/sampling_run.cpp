#include "ballast/runtime/nodes/sampling_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ballast/graph/smaller_steps.hpp"
#include "ballast/runtime/nodes/finite.hpp"
#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/shortage.hpp"
#include "ballast/runtime/nodes/stop.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

/// The real network behind the interface that sampling knows.
class UNetOfModel final : public sampling::DiffusionNetwork {
public:
    UNetOfModel(const Context& context, UNetModel& model, const models::StepShape& shape)
        : context_(&context),
          model_(&model),
          stop_(context.observer),
          use_(model.part->use(shape)) {}

    at::Tensor apply(const sampling::NetworkInput& input) override {
        if (input.context.size(-1) != model_->config.context_dim) {
            throw Failure(
                Error{.code = Code::bad_value,
                      .what = "cannot sample",
                      .why = fmt::format("the text has vectors of {} numbers, the network wants {}",
                                         input.context.size(-1), model_->config.context_dim),
                      .hint = "use the text encoder that belongs to the model"});
        }
        return run(input, nullptr);
    }

    /// Repeats the call that gave `output` to name the layer at fault, once, if it is not finite.
    void explain(const sampling::NetworkInput& input, const at::Tensor& output) {
        if (has_warned_ || ops::is_finite(output)) return;
        has_warned_ = true;
        explain_non_finite(*context_, "the network",
                           [&](nn::LayerListener& listener) { run(input, &listener); });
    }

private:
    at::Tensor run(const sampling::NetworkInput& input, nn::LayerListener* listener) {
        return use_.compute([&] {
            const nn::Forward forward(use_.weights(), &stop_, listener);
            return model_->network(forward, input.x, input.timesteps, input.context);
        });
    }

    const Context* context_;
    UNetModel* model_;
    ObservedStop stop_;
    PartUse use_;
    bool has_warned_ = false;
};

/// How many texts one call of the network gets.
struct CallPolicy {
    std::string how;
    std::int64_t sides = 1;  ///< of guidance
    sampling::FitsInMemory fits;
};

std::vector<CallPolicy> call_policies(const Guider& guider) {
    const CallPolicy alone{graph::kOneTextAtATime, 1,
                           [](const sampling::CallSize&) { return false; }};
    return {{"with all texts at once", guider.negative && guider.cfg != 1.0 ? 2 : 1, {}}, alone};
}

/// Pictures of a call, as the rules count them: more than one text a side are more pictures.
std::int64_t pictures_at_once(const Guider& guider, const CallPolicy& policy,
                              std::int64_t pictures) {
    if (policy.fits) return pictures;  // one text at a time
    auto texts = guider.positive.size();
    if (policy.sides == 2) texts += guider.negative->size();
    const auto rows = static_cast<std::int64_t>(std::max<std::size_t>(texts, 1));
    return pictures * ((rows + policy.sides - 1) / policy.sides);
}

/// Texts of one call are repeated until all are equally long.
std::int64_t longest_text(const Guider& guider) {
    constexpr std::int64_t kMostTokens = 1 << 20;
    std::int64_t tokens = 1;
    const auto look_at = [&](const sampling::Conditioning& list) {
        for (const auto& entry : list)
            if (entry.embedding.defined())
                tokens =
                    std::min(std::lcm(tokens, std::max<std::int64_t>(entry.embedding.size(1), 1)),
                             kMostTokens);
    };
    look_at(guider.positive);
    if (guider.negative) look_at(*guider.negative);
    return tokens;
}

at::Tensor noise_for(const Noise& noise, const sampling::Latent& latent) {
    if (!noise.seed) return ops::zeros(latent.samples.sizes(), at::kFloat);
    return sampling::initial_noise(latent.samples.sizes(), *noise.seed, latent.batch_index);
}

}  // namespace

SampledLatents sample(const Context& context, const SamplerTask& task,
                      const sampling::Latent& latent) {
    auto& bench = *context.session.bench();
    auto& model = *task.guider.model.network;
    const Stopwatch stopwatch(bench.clock, bench.record, Phase::sample);

    sampling::SamplingRequest request{.latent = latent,
                                      .positive = task.guider.positive,
                                      .negative = task.guider.negative,
                                      .cfg = task.guider.cfg,
                                      .sampler = task.sampler,
                                      .sigmas = task.sigmas,
                                      .noise = {},
                                      .seed = task.seed,
                                      .format = sampling::kSd1Latent};
    request.latent.samples =
        sampling::with_channels(latent.samples, request.format.channels).to(at::kFloat);
    request.noise = noise_for(task.noise, request.latent);

    const auto& samples = request.latent.samples;
    models::StepShape shape{
        .height = samples.size(2), .width = samples.size(3), .tokens = longest_text(task.guider)};
    auto result =
        first_that_fits(context, call_policies(task.guider), [&](const CallPolicy& policy) {
            shape.sides = policy.sides;
            shape.batch = pictures_at_once(task.guider, policy, samples.size(0));
            UNetOfModel network(context, model, shape);
            sampling::SamplingHooks hooks;
            hooks.fits = policy.fits;
            hooks.on_step = [&context](const sampling::Step& step) {
                context.observer.progress(step.index + 1, step.total);
            };
            hooks.after = [&network](const sampling::NetworkInput& input, float,
                                     const at::Tensor& output) { network.explain(input, output); };
            return sampling::run_sampling(request, task.guider.model.sampling, network, hooks);
        }).result;

    SampledLatents sampled{.samples = latent, .denoised = latent};
    sampled.samples.samples = std::move(result.samples);
    sampled.denoised.samples = std::move(result.denoised);
    return sampled;
}

}  // namespace ballast::runtime::nodes
