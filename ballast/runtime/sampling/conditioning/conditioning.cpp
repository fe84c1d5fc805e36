#include "ballast/runtime/sampling/conditioning/conditioning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr std::int64_t kPixelsPerCell = 8;
constexpr std::int64_t kTokenAxis = 1;

template <typename Change>
Conditioning changed(const Conditioning& list, Change&& change) {
    Conditioning result = list;
    for (ConditioningEntry& entry : result) change(entry);
    return result;
}

Failure cannot_mix(std::string why) {
    return Failure({.code = Code::bad_value,
                    .what = "cannot mix the conditionings",
                    .why = std::move(why),
                    .hint = "use texts that were encoded by the same text encoder"});
}

const ConditioningEntry& source_of(const Conditioning& to, const Conditioning& from) {
    if (from.empty()) throw cannot_mix("the one to mix in is empty");
    const std::int64_t width = from.front().embedding.size(-1);
    for (const ConditioningEntry& entry : to)
        if (entry.embedding.size(-1) != width)
            throw cannot_mix(fmt::format("their embeddings are {} and {} wide",
                                         entry.embedding.size(-1), width));
    return from.front();
}

at::Tensor with_tokens(const at::Tensor& embedding, std::int64_t tokens) {
    const std::int64_t has = embedding.size(kTokenAxis);
    if (has >= tokens) return embedding.narrow(kTokenAxis, 0, tokens);
    return ops::pad(embedding, {0, 0, 0, tokens - has});
}

at::Tensor mixed(const at::Tensor& to, const at::Tensor& from, double share) {
    return to * static_cast<float>(share) + from * static_cast<float>(1.0 - share);
}

}  // namespace

Conditioning combine(const Conditioning& first, const Conditioning& second) {
    if (first.size() + second.size() > kMostEntries)
        throw Failure({.code = Code::bad_value,
                       .what = "cannot combine the conditionings",
                       .why = fmt::format("they have {} entries together, more than {}",
                                          first.size() + second.size(), kMostEntries),
                       .hint = "combine fewer; a list that is combined with itself doubles"});
    Conditioning both;
    both.reserve(first.size() + second.size());
    both.insert(both.end(), first.begin(), first.end());
    both.insert(both.end(), second.begin(), second.end());
    return both;
}

Conditioning average(const Conditioning& to, const Conditioning& from, double share) {
    const ConditioningEntry& source = source_of(to, from);
    return changed(to, [&](ConditioningEntry& entry) {
        const std::int64_t tokens = entry.embedding.size(kTokenAxis);
        entry.embedding = mixed(entry.embedding, with_tokens(source.embedding, tokens), share);
        if (!source.pooled.defined()) return;
        const at::Tensor& pooled = entry.pooled.defined() ? entry.pooled : source.pooled;
        entry.pooled = mixed(pooled, source.pooled, share);
    });
}

Conditioning concat(const Conditioning& to, const Conditioning& from) {
    const ConditioningEntry& source = source_of(to, from);
    return changed(to, [&](ConditioningEntry& entry) {
        entry.embedding = ops::cat({entry.embedding, source.embedding}, kTokenAxis);
    });
}

Conditioning set_area(const Conditioning& list, const PixelArea& area, double strength) {
    return changed(list, [&](ConditioningEntry& entry) {
        entry.area = Area{.height = area.height / kPixelsPerCell,
                          .width = area.width / kPixelsPerCell,
                          .y = area.y / kPixelsPerCell,
                          .x = area.x / kPixelsPerCell};
        entry.strength = strength;
        entry.mask_area = MaskArea::whole;
    });
}

Conditioning set_mask(const Conditioning& list, const at::Tensor& mask, double strength,
                      MaskArea mask_area) {
    if ((mask.dim() != 2 && mask.dim() != 3) || mask.numel() == 0)
        throw Failure({.code = Code::bad_value,
                       .what = "cannot set the mask",
                       .why = fmt::format("its shape is [{}]", fmt::join(mask.sizes(), ", ")),
                       .hint = "a mask is [batch, height, width], none of them 0"});
    const at::Tensor stacked = mask.dim() == 2 ? mask.unsqueeze(0) : mask;
    return changed(list, [&](ConditioningEntry& entry) {
        entry.mask = stacked;
        entry.mask_strength = strength;
        entry.mask_area = mask_area;
    });
}

Conditioning zero_out(const Conditioning& list) {
    const auto zeros_like = [](const at::Tensor& x) {
        return ops::zeros(x.sizes(), x.scalar_type());
    };
    return changed(list, [&](ConditioningEntry& entry) {
        entry.embedding = zeros_like(entry.embedding);
        if (entry.pooled.defined()) entry.pooled = zeros_like(entry.pooled);
    });
}

Conditioning set_timestep_range(const Conditioning& list, double start_percent,
                                double end_percent) {
    return changed(list, [&](ConditioningEntry& entry) {
        entry.start_percent = start_percent;
        entry.end_percent = end_percent;
    });
}

}  // namespace ballast::runtime::sampling
