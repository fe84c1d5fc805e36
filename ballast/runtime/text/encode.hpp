#pragma once
// From the windows of a prompt to what guides the sampling: one vector per token and a pooled one.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ballast/runtime/text/clip_tokenizer.hpp"

namespace ballast::runtime::text {

/// What a text network makes of a batch of windows.
struct EncodedWindows {
    at::Tensor hidden;  ///< [B, T, W], of the layer that guides the sampling
    at::Tensor pooled;  ///< [B, W]
};

/// A text network, as far as prompts are concerned.
class WindowEncoder {
public:
    WindowEncoder() = default;
    WindowEncoder(const WindowEncoder&) = delete;
    WindowEncoder& operator=(const WindowEncoder&) = delete;
    virtual ~WindowEncoder() = default;

    /// Vectors of the tokens `ids` [B, T] (int64): [B, T, W], without positions. The result is
    /// written to.
    virtual at::Tensor embed(const at::Tensor& ids) = 0;
    /// Runs the network over `tokens` [B, T, W]; `end_positions` holds the first end token of each.
    virtual EncodedWindows encode(const at::Tensor& tokens,
                                  const std::vector<std::int64_t>& end_positions) = 0;
};

struct EncodedPrompt {
    at::Tensor tokens;  ///< [1, 77 * windows, W] fp32
    at::Tensor pooled;  ///< [1, W] fp32, of the first window
};

/// Encodes every window by itself and joins the results along the tokens.
///
/// Weights act on the result: where a token's weight is w != 1, its vector z becomes
/// (z - z0) w + z0, with z0 the vector at the same place of an empty prompt. The empty prompt is
/// encoded only if there is such a weight. Long prompts are encoded `kWindowsAtOnce` windows at
/// a time, which bounds the memory. Throws `Failure` (`bad_value`) when an embedding has another
/// width than the network's tokens.
EncodedPrompt encode_prompt(const TokenizedPrompt& prompt, WindowEncoder& encoder);

inline constexpr std::size_t kWindowsAtOnce = 16;

}  // namespace ballast::runtime::text
