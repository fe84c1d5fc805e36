#pragma once
// A prompt through tokenizer and text network, with embeddings from the models' folder.

#include <string>

#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/text/encode.hpp"

namespace ballast::runtime::nodes {

/// Throws `Failure`; embeddings that are missing are left out with a warning.
text::EncodedPrompt encode_text(const Context& context, const Clip& clip,
                                const std::string& prompt);

}  // namespace ballast::runtime::nodes
