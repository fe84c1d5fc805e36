#include "ballast/runtime/nodes/prompt_encoding.hpp"

#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/stop.hpp"
#include "ballast/runtime/text/clip_encoder.hpp"
#include "ballast/runtime/text/embedding_file.hpp"

namespace ballast::runtime::nodes {
namespace {

/// Embeddings are named with or without the ending of their file.
std::shared_ptr<const text::EmbeddingRows> find_embedding(const graph::Folders& folders,
                                                          const std::string& name) {
    for (const std::string_view ending : {"", ".safetensors"}) {
        const auto path = folders.model_path("embeddings", name + std::string(ending));
        if (path)
            return std::make_shared<text::EmbeddingRows>(
                value_or_throw(text::read_embedding(*path)));
    }
    return nullptr;
}

}  // namespace

text::EncodedPrompt encode_text(const Context& context, const Clip& clip,
                                const std::string& prompt) {
    auto& model = *clip.network;
    const auto& folders = context.session.folders();
    const auto width = static_cast<std::size_t>(model.config.hidden_size);
    const auto windows = context.session.tokenizer(width).tokenize(
        prompt, [&folders](const std::string& name) { return find_embedding(folders, name); });
    for (const auto& warning : windows.warnings) context.observer.warning(warning);

    const ObservedStop stop(context.observer);
    const auto weights = model.part.weights();
    const nn::Forward forward(weights, &stop);
    text::ClipEncoder encoder(model.network, forward, clip.layer);
    return text::encode_prompt(windows, encoder);
}

}  // namespace ballast::runtime::nodes
