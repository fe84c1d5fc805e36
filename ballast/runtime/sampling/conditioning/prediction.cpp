#include "ballast/runtime/sampling/conditioning/prediction.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include "ballast/runtime/sampling/conditioning/weight_map.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr std::int64_t kTokenAxis = 1;
constexpr std::int64_t kMaxTextRepeats = 4;

/// Weight of a position that nothing covers: there the prediction is 0 / kNoWeight.
constexpr double kNoWeight = 1e-37;

/// One entry that waits for its network call.
struct Pending {
    Side side;
    std::optional<Area> area;  ///< clipped to the latent
    at::Tensor x;              ///< what the network sees of the latent
    at::Tensor weight;
    at::Tensor context;
};

Pending pending(const PreparedEntry& entry, Side side, const at::Tensor& x) {
    std::optional<Area> area = entry.area;
    if (area) area = clipped(*area, x.size(2), x.size(3));
    return {.side = side,
            .area = area,
            .x = inside(x, area),
            .weight = weight_map(entry, area, x.sizes()),
            .context = entry.context};
}

std::vector<Pending> all_pending(const std::vector<PreparedEntry>& positive,
                                 const std::vector<PreparedEntry>& negative, const at::Tensor& x,
                                 float sigma) {
    std::vector<Pending> all;
    const auto add = [&](Side side, const std::vector<PreparedEntry>& entries) {
        for (const PreparedEntry& entry : entries)
            if (entry.is_active(sigma)) all.push_back(pending(entry, side, x));
    };
    add(Side::positive, positive);
    add(Side::negative, negative);
    return all;
}

bool can_share_call(const Pending& a, const Pending& b) {
    if (!a.x.sizes().equals(b.x.sizes())) return false;
    if (a.context.size(0) != b.context.size(0) || a.context.size(2) != b.context.size(2))
        return false;
    const std::int64_t tokens_a = a.context.size(kTokenAxis);
    const std::int64_t tokens_b = b.context.size(kTokenAxis);
    return std::lcm(tokens_a, tokens_b) / std::min(tokens_a, tokens_b) <= kMaxTextRepeats;
}

using Batch = std::vector<Pending>;

std::int64_t common_tokens(const Batch& batch) {
    std::int64_t tokens = 1;
    for (const Pending& entry : batch) tokens = std::lcm(tokens, entry.context.size(kTokenAxis));
    return tokens;
}

CallSize size_of(const Batch& batch) {
    const at::Tensor& x = batch.front().x;
    return {.batch = std::ssize(batch) * x.size(0),
            .channels = x.size(1),
            .height = x.size(2),
            .width = x.size(3),
            .tokens = common_tokens(batch)};
}

/// Takes the entries of the next call out of `all`: those that can share a call with the first, in
/// reverse order; all of them, or the first half, third, ... of them, whatever fits first.
Batch take_batch(std::vector<Pending>& all, const FitsInMemory& fits) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = all.size(); i-- > 0;)
        if (can_share_call(all[i], all.front())) candidates.push_back(i);
    for (std::size_t divisor = 1;; ++divisor) {
        const std::size_t count = std::max<std::size_t>(candidates.size() / divisor, 1);
        Batch batch;
        for (std::size_t i = 0; i < count; ++i) batch.push_back(all[candidates[i]]);
        if (count > 1 && fits && !fits(size_of(batch))) continue;
        for (std::size_t i = 0; i < count; ++i)
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(candidates[i]));
        return batch;
    }
}

at::Tensor joined_x(const Batch& batch) {
    std::vector<at::Tensor> parts;
    for (const Pending& entry : batch) parts.push_back(entry.x);
    return ops::cat(parts, 0);
}

at::Tensor joined_context(const Batch& batch) {
    const std::int64_t tokens = common_tokens(batch);
    std::vector<at::Tensor> parts;
    for (const Pending& entry : batch)
        parts.push_back(entry.context.repeat({1, tokens / entry.context.size(kTokenAxis), 1}));
    return ops::cat(parts, 0);
}

/// The weighted sum of one side's predictions.
class Average {
public:
    explicit Average(at::IntArrayRef shape)
        : sum_(ops::zeros(shape, at::kFloat)),
          weights_(ops::full({shape[0], 1, shape[2], shape[3]}, kNoWeight, at::kFloat)) {}

    void add(const Pending& entry, const at::Tensor& prediction) {
        inside(sum_, entry.area).add_(prediction * entry.weight);
        inside(weights_, entry.area).add_(entry.weight);
    }
    [[nodiscard]] at::Tensor value() const { return sum_ / weights_; }

private:
    at::Tensor sum_;
    at::Tensor weights_;
};

}  // namespace

SidePredictions Predictor::predict(const PreparedConditioning& conditioning, const at::Tensor& x,
                                   float sigma, NegativeSide negative) const {
    const std::vector<PreparedEntry> nothing;
    const bool has_negative = conditioning.negative && negative == NegativeSide::evaluate;
    std::vector<Pending> all = all_pending(
        conditioning.positive, has_negative ? *conditioning.negative : nothing, x, sigma);
    Average positive_average(x.sizes());
    Average negative_average(x.sizes());
    while (!all.empty()) {
        if (before) before();
        const Batch batch = take_batch(all, fits);
        const at::Tensor joined = joined_x(batch);
        const NetworkInput input{
            .x = sampling.network_input(sigma, joined),
            .timesteps = ops::full({joined.size(0)}, sampling.timestep(sigma), at::kFloat),
            .context = joined_context(batch)};
        const at::Tensor output = network->apply(input).to(at::kFloat);
        if (after) after(input, sigma, output);
        const at::Tensor predictions = sampling.denoised(sigma, output, joined);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const auto rows = x.size(0);
            const at::Tensor prediction =
                predictions.narrow(0, static_cast<std::int64_t>(i) * rows, rows);
            Average& average =
                batch[i].side == Side::positive ? positive_average : negative_average;
            average.add(batch[i], prediction);
        }
    }
    return {.positive = positive_average.value(), .negative = negative_average.value()};
}

}  // namespace ballast::runtime::sampling
