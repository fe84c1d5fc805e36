// Whatever the prompt, it becomes whole windows, or the one error that prompts have.

#include <cstdint>
#include <cstdlib>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/text/clip_tokenizer.hpp"

using ballast::runtime::Failure;
using ballast::runtime::text::ClipTokenizer;
using ballast::runtime::text::ClipVocabulary;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const ClipTokenizer tokenizer;
    try {
        const auto prompt = tokenizer.tokenize({reinterpret_cast<const char*>(data), size});
        if (prompt.windows.empty()) std::abort();
        for (const auto& window : prompt.windows) {
            if (window.size() != ClipTokenizer::kWindow) std::abort();
            if (window.front().id != ClipVocabulary::kStart) std::abort();
            for (const auto& token : window)
                if (token.id < 0 || token.id >= ClipVocabulary::kSize) std::abort();
        }
    } catch (const Failure& failure) {
        if (failure.error().code != ballast::Code::bad_value) std::abort();
    }
    return 0;
}
