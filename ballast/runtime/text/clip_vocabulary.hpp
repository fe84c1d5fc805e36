#pragma once
// CLIP's byte-pair vocabulary: 49408 tokens, embedded in the library.
//
// Ids: the 256 bytes in the order of the format's character table, the same as ends of words,
// 48894 merges in the order in which they were learned, start and end of text. Source: Radford et
// al., "Learning Transferable Visual Models From Natural Language Supervision", 2021; the file is
// data/clip/bpe_simple_vocab_16e6.txt.gz.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ballast::runtime::text {

class ClipVocabulary {
public:
    static constexpr std::int32_t kStart = 49406;
    static constexpr std::int32_t kEnd = 49407;
    static constexpr std::int32_t kSize = 49408;

    /// Unpacks the embedded file: some ten milliseconds.
    ClipVocabulary();

    /// Appends the tokens of one piece of text, as `clip_pieces` cuts them: any bytes, encoded as
    /// one word, or a special token. Costs n log n for n bytes. Thread-safe.
    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const;

    /// The file inside the library, packed as it was.
    static std::span<const std::byte> embedded_file();

private:
    /// Two neighbouring tokens in one number, and the token that replaces them. A lower id was
    /// learned earlier and is applied first.
    struct Merge {
        std::uint32_t pair = 0;
        std::uint16_t id = 0;
    };
    static std::uint32_t pair_of(std::uint16_t left, std::uint16_t right) {
        return (static_cast<std::uint32_t>(left) << 16U) | right;
    }
    /// The merge of two neighbours, or null.
    [[nodiscard]] const Merge* find(std::uint16_t left, std::uint16_t right) const;

    std::array<std::uint16_t, 256> byte_ids_{};  ///< by byte, inside a word
    std::vector<Merge> merges_;                  ///< sorted by pair
};

}  // namespace ballast::runtime::text
