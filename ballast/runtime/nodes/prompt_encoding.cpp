#include "ballast/runtime/nodes/prompt_encoding.hpp"

#include <algorithm>

#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/stop.hpp"
#include "ballast/runtime/text/clip_encoder.hpp"
#include "ballast/runtime/text/embedding_file.hpp"

namespace ballast::runtime::nodes {
namespace {

/// Embeddings are named with or without the ending of their file.
std::shared_ptr<const text::EmbeddingRows> find_embedding(const Session& session,
                                                          const std::string& name) {
    for (const std::string_view ending : {"", ".safetensors"}) {
        const auto path = session.folders().model_path("embeddings", name + std::string(ending));
        if (!path) continue;
        auto rows =
            std::make_shared<text::EmbeddingRows>(value_or_throw(text::read_embedding(*path)));
        session.log_opened(*path);
        return rows;
    }
    return nullptr;
}

}  // namespace

text::EncodedPrompt encode_text(const Context& context, const Clip& clip,
                                const std::string& prompt) {
    auto& model = *clip.network;
    const auto& session = context.session;
    const auto width = static_cast<std::size_t>(model.config.hidden_size);
    const auto windows = context.session.tokenizer(width).tokenize(
        prompt, [&session](const std::string& name) { return find_embedding(session, name); });
    for (const auto& warning : windows.warnings) context.observer.warning(warning);

    const ObservedStop stop(context.observer);
    const auto at_once = std::min(windows.windows.size(), text::kWindowsAtOnce);
    const auto use = model.part->use(
        {.tokens = static_cast<std::int64_t>(at_once * text::ClipTokenizer::kWindow)});
    const auto encoded = use.compute([&] {
        const nn::Forward forward(use.weights(), &stop);
        text::ClipEncoder encoder(model.network, forward, clip.layer);
        return text::encode_prompt(windows, encoder);
    });
    return {.tokens = use.on_host(encoded.tokens), .pooled = use.on_host(encoded.pooled)};
}

}  // namespace ballast::runtime::nodes
