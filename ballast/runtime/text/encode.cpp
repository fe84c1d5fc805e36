#include "ballast/runtime/text/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::text {

namespace {

constexpr auto kTokens = static_cast<std::int64_t>(ClipTokenizer::kWindow);

/// Ids of the windows, [B, T]; rows of embeddings get a placeholder.
at::Tensor ids_of(std::span<const PromptWindow> windows) {
    std::vector<std::int64_t> ids;
    ids.reserve(windows.size() * ClipTokenizer::kWindow);
    for (const auto& window : windows)
        for (const auto& token : window)
            ids.push_back(token.embedding ? ClipVocabulary::kEnd : token.id);
    return ops::from_ints(ids).view({static_cast<std::int64_t>(windows.size()), kTokens});
}

/// Writes the rows of embeddings into their places in `tokens` [B, T, W].
void insert_embeddings(at::Tensor& tokens, std::span<const PromptWindow> windows) {
    const auto width = static_cast<std::size_t>(tokens.size(2));
    for (std::size_t b = 0; b < windows.size(); ++b) {
        for (std::size_t t = 0; t < windows[b].size(); ++t) {
            const auto& token = windows[b][t];
            if (!token.embedding) continue;
            if (token.embedding->width != width)
                throw Failure({.code = Code::bad_value,
                               .what = "cannot encode the prompt",
                               .why = fmt::format("an embedding is {} wide, the text encoder's "
                                                  "tokens are {} wide",
                                                  token.embedding->width, width),
                               .hint = "use an embedding made for this kind of model"});
            const auto first =
                token.embedding->values.begin() + static_cast<std::ptrdiff_t>(token.row * width);
            const auto row = ops::from_floats({first, first + static_cast<std::ptrdiff_t>(width)});
            tokens.select(0, static_cast<std::int64_t>(b))
                .select(0, static_cast<std::int64_t>(t))
                .copy_(row);
        }
    }
}

std::vector<std::int64_t> end_positions_of(std::span<const PromptWindow> windows) {
    std::vector<std::int64_t> positions;
    for (const auto& window : windows) {
        const auto end = std::find_if(window.begin(), window.end(), [](const PromptToken& token) {
            return !token.embedding && token.id == ClipVocabulary::kEnd;
        });
        positions.push_back(end - window.begin());
    }
    return positions;
}

/// z' = (z - z0) w + z0 in place, where w is not 1. `z` and `z0` hold one window, [T, W].
void apply_weights(float* z, const float* z0, const PromptWindow& window, std::size_t width) {
    for (const auto& token : window) {
        if (token.weight != 1.0) {
            const auto weight = static_cast<float>(token.weight);
            for (std::size_t i = 0; i < width; ++i) z[i] = (z[i] - z0[i]) * weight + z0[i];
        }
        z += width;
        z0 += width;
    }
}

}  // namespace

EncodedPrompt encode_prompt(const TokenizedPrompt& prompt, WindowEncoder& encoder) {
    auto windows = prompt.windows;
    const bool is_weighted = prompt.is_weighted();
    if (is_weighted) {
        PromptWindow empty(ClipTokenizer::kWindow);
        empty.front().id = ClipVocabulary::kStart;
        for (std::size_t i = 2; i < empty.size(); ++i) empty[i].id = prompt.padding;
        windows.push_back(std::move(empty));
    }
    std::vector<at::Tensor> hidden;
    EncodedPrompt result;
    for (std::size_t done = 0; done < windows.size(); done += kWindowsAtOnce) {
        const auto batch = std::span<const PromptWindow>(windows).subspan(
            done, std::min(kWindowsAtOnce, windows.size() - done));
        auto tokens = encoder.embed(ids_of(batch));
        insert_embeddings(tokens, batch);
        const auto encoded = encoder.encode(tokens, end_positions_of(batch));
        if (done == 0) result.pooled = encoded.pooled.narrow(0, 0, 1).to(at::kFloat).clone();
        hidden.push_back(encoded.hidden.to(at::kFloat));
    }
    auto all = ops::cat(hidden, 0);  // a copy of its own: weights are applied in place
    const auto count = static_cast<std::int64_t>(prompt.windows.size());
    if (is_weighted) {
        const auto width = static_cast<std::size_t>(all.size(2));
        auto* values = all.mutable_data_ptr<float>();
        const auto stride = ClipTokenizer::kWindow * width;
        const auto* empty = values + prompt.windows.size() * stride;
        for (std::size_t i = 0; i < prompt.windows.size(); ++i)
            apply_weights(values + i * stride, empty, prompt.windows[i], width);
    }
    result.tokens = all.narrow(0, 0, count).reshape({1, count * kTokens, -1}).contiguous();
    return result;
}

}  // namespace ballast::runtime::text
