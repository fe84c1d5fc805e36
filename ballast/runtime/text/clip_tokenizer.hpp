#pragma once
// From a prompt to windows of 77 tokens with weights.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/runtime/text/clip_vocabulary.hpp"

namespace ballast::runtime::text {

/// The rows of a textual-inversion file, row-major [rows, width]: each takes the place of a token.
struct EmbeddingRows {
    std::size_t width = 0;
    std::vector<float> values;

    [[nodiscard]] std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
};

/// One place of a window: a token of the vocabulary, or a row of an embedding.
struct PromptToken {
    std::int32_t id = ClipVocabulary::kEnd;  ///< meaningless where `embedding` is set
    double weight = 1.0;
    std::int32_t group = 0;  ///< number of the weighted segment, from 1; 0: start, end, padding
    std::shared_ptr<const EmbeddingRows> embedding;
    std::size_t row = 0;
};

using PromptWindow = std::vector<PromptToken>;

struct TokenizedPrompt {
    std::int32_t padding = ClipVocabulary::kEnd;  ///< what the windows are filled up with
    std::vector<PromptWindow> windows;            ///< at least one, each of `kWindow` tokens
    /// Embeddings that were left out, weights that are no sensible numbers; one sentence each.
    std::vector<std::string> warnings;

    /// True when some token's weight is not 1.
    [[nodiscard]] bool is_weighted() const;
};

/// Finds the embedding of that name; null if there is none. May throw `Failure`.
using FindEmbedding = std::function<std::shared_ptr<const EmbeddingRows>(const std::string& name)>;

struct TokenizerOptions {
    std::int32_t padding = ClipVocabulary::kEnd;
    /// Width of the network's tokens: embeddings of another width are left out. 0 accepts all.
    std::size_t width = 0;
};

/// CLIP's tokenizer with the reference's prompt syntax. Thread-safe.
class ClipTokenizer {
public:
    static constexpr std::size_t kWindow = 77;  ///< start and end included

    explicit ClipTokenizer(TokenizerOptions options = {}) : options_(options) {}

    /// Cuts the prompt into weighted segments (`parse_weights`), the segments into tokens, and the
    /// tokens into windows. The tokens of a segment stay together: a segment of less than eight
    /// that does not fit the rest of a window moves to the next one, a longer one is split.
    ///
    /// `embedding:name` at the start of a segment, or behind a blank or line break, is replaced by
    /// the rows that `find` returns for the name, which ends at white space. If there is no such
    /// embedding, commas around the name are taken for text; if there still is none, it is left
    /// out with a warning. Throws `Failure` (`bad_value`) when no name follows, and what `find`
    /// throws.
    [[nodiscard]] TokenizedPrompt tokenize(std::string_view prompt,
                                           const FindEmbedding& find = {}) const;

private:
    using Segment = std::vector<PromptToken>;
    class Reading;

    [[nodiscard]] const ClipVocabulary& vocabulary() const;

    TokenizerOptions options_;
    mutable std::once_flag unpacked_;
    mutable std::unique_ptr<const ClipVocabulary> vocabulary_;
};

}  // namespace ballast::runtime::text
