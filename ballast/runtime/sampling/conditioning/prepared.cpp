#include "ballast/runtime/sampling/conditioning/prepared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ballast/runtime/sampling/latent.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::sampling {

namespace {

using Entries = std::vector<PreparedEntry>;

/// Networks of several resolutions cannot work on less than this.
constexpr std::int64_t kSmallestBounds = 8;

struct Size {
    std::int64_t height;
    std::int64_t width;
};

/// The smallest rectangle around everything in `mask` [N, 1, h, w] that is not zero.
Area bounds_of(const at::Tensor& mask, Size latent) {
    const at::Tensor cover = mask.abs().amax(at::IntArrayRef{0, 1}).contiguous();
    const float* value = cover.const_data_ptr<float>();
    std::int64_t top = latent.height, left = latent.width, bottom = -1, right = -1;
    for (std::int64_t y = 0; y < latent.height; ++y)
        for (std::int64_t x = 0; x < latent.width; ++x) {
            if (value[y * latent.width + x] == 0.0F) continue;
            top = std::min(top, y);
            bottom = std::max(bottom, y);
            left = std::min(left, x);
            right = std::max(right, x);
        }
    if (bottom < 0) return {.height = kSmallestBounds, .width = kSmallestBounds};
    return {.height = std::max(kSmallestBounds, bottom - top + 1),
            .width = std::max(kSmallestBounds, right - left + 1),
            .y = top,
            .x = left};
}

std::optional<Area> area_of(const ConditioningEntry& entry, const at::Tensor& mask, Size latent) {
    if (mask.defined() && entry.mask_area == MaskArea::bounds) return bounds_of(mask, latent);
    return entry.area;
}

void check_area(const Area& area, Size latent) {
    if (area.height > 0 && area.width > 0 && area.y >= 0 && area.x >= 0 && area.y < latent.height &&
        area.x < latent.width)
        return;
    throw Failure(
        {.code = Code::bad_value,
         .what = "cannot place the conditioning",
         .why = fmt::format("its area ({} x {} at {}, {} in latent cells) lies outside "
                            "the latent ({} x {})",
                            area.width, area.height, area.x, area.y, latent.width, latent.height),
         .hint = "move the area into the picture"});
}

void check_embedding(const at::Tensor& embedding) {
    if (embedding.defined() && embedding.dim() == 3 && embedding.numel() > 0) return;
    throw Failure({.code = Code::bad_value,
                   .what = "cannot use the conditioning",
                   .why = embedding.defined() ? fmt::format("its embedding has the shape [{}]",
                                                            fmt::join(embedding.sizes(), ", "))
                                              : "it has no embedding",
                   .hint = "an embedding is [batch, tokens, width], none of them 0"});
}

PreparedEntry prepare_entry(const ConditioningEntry& entry, const ModelSampling& sampling,
                            at::IntArrayRef shape) {
    const Size latent{.height = shape[2], .width = shape[3]};
    check_embedding(entry.embedding);
    PreparedEntry prepared;
    prepared.context = repeated_to(entry.embedding, shape[0]);
    prepared.strength = static_cast<float>(entry.strength);
    prepared.mask_strength = static_cast<float>(entry.mask_strength);
    at::Tensor mask;
    if (entry.mask.defined()) {
        // bounds are those of all masks; of the masks themselves, only B take part
        mask = latent_mask(entry.mask, {entry.mask.size(0), 1, latent.height, latent.width});
        prepared.mask = mask.size(0) == 1 ? mask : repeated_to(mask, shape[0]);
    }
    prepared.area = area_of(entry, mask, latent);
    if (prepared.area) check_area(*prepared.area, latent);
    if (entry.start_percent)
        prepared.first_sigma = static_cast<float>(sampling.sigma_of_percent(*entry.start_percent));
    if (entry.end_percent)
        prepared.last_sigma = static_cast<float>(sampling.sigma_of_percent(*entry.end_percent));
    return prepared;
}

Entries prepare_side(const Conditioning& list, const ModelSampling& sampling,
                     at::IntArrayRef shape) {
    Entries entries;
    for (const ConditioningEntry& entry : list)
        entries.push_back(prepare_entry(entry, sampling, shape));
    return entries;
}

bool contains(const Area& outer, const Area& inner) {
    return inner.y >= outer.y && inner.x >= outer.x &&
           inner.y + inner.height <= outer.y + outer.height &&
           inner.x + inner.width <= outer.x + outer.width;
}

/// The entry of `side` that says most closely what holds in `area`: the smallest area around it,
/// else the first entry that holds everywhere. Null if there is neither.
const PreparedEntry* closest(const Entries& side, const Area& area) {
    const auto cells_of = [](const Area& a) { return a.height * a.width; };
    const PreparedEntry* best = nullptr;
    for (const PreparedEntry& entry : side) {
        if (!entry.area) {
            if (best == nullptr) best = &entry;
        } else if (contains(*entry.area, area)) {
            if (best == nullptr || !best->area || cells_of(*best->area) > cells_of(*entry.area))
                best = &entry;
        }
    }
    return best;
}

/// Gives `side` an entry with the area of `counterpart`, unless it has one. All but the text is
/// the counterpart's.
void add_counterpart(Entries& side, const PreparedEntry& counterpart) {
    if (!counterpart.area) return;
    const PreparedEntry* source = closest(side, *counterpart.area);
    if (source == nullptr || source->area == counterpart.area) return;
    PreparedEntry added = counterpart;
    added.context = source->context;
    side.push_back(std::move(added));
}

}  // namespace

PreparedConditioning prepare(const Conditioning& positive,
                             const std::optional<Conditioning>& negative,
                             const ModelSampling& sampling, at::IntArrayRef shape) {
    PreparedConditioning prepared{.positive = prepare_side(positive, sampling, shape),
                                  .negative = std::nullopt};
    if (!negative) return prepared;
    prepared.negative = prepare_side(*negative, sampling, shape);
    for (const PreparedEntry& entry : prepared.positive) add_counterpart(*prepared.negative, entry);
    for (const PreparedEntry& entry : *prepared.negative) add_counterpart(prepared.positive, entry);
    return prepared;
}

}  // namespace ballast::runtime::sampling
