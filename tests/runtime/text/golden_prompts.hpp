#pragma once
// The prompts of the golden Stable Diffusion 1.x files, and the embedding that one of them uses.

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/text/clip_tokenizer.hpp"
#include "ballast/runtime/text/embedding_file.hpp"

namespace ballast::runtime::text {

inline const std::string kGoldenNetworks = BALLAST_TEST_DATA "/golden/networks/";

/// Name in the golden files -> prompt.
inline std::map<std::string, std::string> golden_prompts() {
    std::ifstream file(kGoldenNetworks + "sd15-tiny.json");
    return nlohmann::json::parse(file)["prompts"].get<std::map<std::string, std::string>>();
}

inline TokenizedPrompt tokenize_golden(const std::string& prompt) {
    const auto find = [](const std::string& name) -> std::shared_ptr<const EmbeddingRows> {
        if (name != "tiny-a") return nullptr;
        return std::make_shared<const EmbeddingRows>(
            value_or_throw(read_embedding(kGoldenNetworks + "embeddings/tiny-a.safetensors")));
    };
    return ClipTokenizer({.width = 20}).tokenize(prompt, find);
}

}  // namespace ballast::runtime::text
