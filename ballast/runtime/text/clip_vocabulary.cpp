#include "ballast/runtime/text/clip_vocabulary.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ballast/engine/core/utf8.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/text/clip_text.hpp"

// from clip_vocabulary_data.S
extern "C" {
extern const std::byte ballast_clip_vocabulary[];
extern const std::byte ballast_clip_vocabulary_end[];
}

namespace ballast::runtime::text {

namespace {

constexpr std::size_t kBytes = 256;
constexpr std::size_t kFirstMerge = 2 * kBytes;
constexpr std::size_t kMerges = ClipVocabulary::kStart - kFirstMerge;
constexpr std::string_view kEndOfWord = "</w>";

[[noreturn]] void refuse(std::string why) {
    throw Failure({.code = Code::internal,
                   .what = "cannot unpack the CLIP vocabulary",
                   .why = std::move(why)});
}

/// The first `lines` lines of a gzip file.
std::string unpack_lines(std::span<const std::byte> packed, std::size_t lines) {
    z_stream stream{};
    constexpr int kGzipOrZlib = 32;
    if (inflateInit2(&stream, MAX_WBITS + kGzipOrZlib) != Z_OK) refuse("zlib does not start");
    // zlib never writes to its input, but asks for a pointer that could
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string text;
    std::array<char, 1U << 16U> chunk{};
    int state = Z_OK;
    for (std::size_t seen = 0; seen < lines && state == Z_OK;) {
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        state = inflate(&stream, Z_NO_FLUSH);
        const auto end =
            chunk.begin() + static_cast<std::ptrdiff_t>(chunk.size() - stream.avail_out);
        seen += static_cast<std::size_t>(std::count(chunk.begin(), end, '\n'));
        text.append(chunk.begin(), end);
    }
    inflateEnd(&stream);
    if (state != Z_OK && state != Z_STREAM_END) refuse("its data are damaged");
    return text;
}

/// Bytes in the order of their ids: those that print come first, each standing for itself; the
/// others follow and are written as the characters from U+0100 on.
struct ByteTable {
    std::array<std::uint16_t, kBytes> id_of{};
    std::array<std::string, kBytes> character;  ///< by id
};

ByteTable byte_table() {
    const auto prints = [](std::size_t byte) {
        return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    };
    ByteTable table;
    std::uint16_t id = 0;
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
        if (!prints(byte)) continue;
        append_utf8(table.character[id], static_cast<char32_t>(byte));
        table.id_of[byte] = id++;
    }
    char32_t stand_in = 0x100;
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
        if (prints(byte)) continue;
        append_utf8(table.character[id], stand_in++);
        table.id_of[byte] = id++;
    }
    return table;
}

/// Merges the neighbours of one word until none is left that was ever learned.
class Word {
public:
    explicit Word(std::vector<std::uint16_t> symbols) : symbols_(std::move(symbols)) {
        const auto size = static_cast<std::uint32_t>(symbols_.size());
        for (std::uint32_t i = 0; i < size; ++i) links_.push_back({i - 1, i + 1});
    }

    /// `merged(left, right)` is the id that replaces two neighbours, or kNone.
    template <typename F>
    void merge_all(const F& merged) {
        for (std::uint32_t i = 0; i < symbols_.size(); ++i) offer(i, merged);
        while (!queue_.empty()) {
            const auto [id, left, right] = queue_.top();
            queue_.pop();
            // either side may have been merged into something else since
            if (links_[left].next != right || merged(symbols_[left], symbols_[right]) != id)
                continue;
            symbols_[left] = static_cast<std::uint16_t>(id);
            symbols_[right] = kDead;
            links_[left].next = links_[right].next;
            links_[right].next = kOutside;
            if (links_[left].next < symbols_.size()) links_[links_[left].next].previous = left;
            offer(left, merged);
            if (links_[left].previous < symbols_.size()) offer(links_[left].previous, merged);
        }
    }

    void append_to(std::vector<std::int32_t>& ids) const {
        for (const auto symbol : symbols_)
            if (symbol != kDead) ids.push_back(symbol);
    }

    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

private:
    static constexpr std::uint16_t kDead = std::numeric_limits<std::uint16_t>::max();
    static constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();

    struct Link {
        std::uint32_t previous, next;  ///< at or beyond the end: none
    };
    /// Earliest learned first, then leftmost: what a sweep per merge would do.
    using Candidate = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

    template <typename F>
    void offer(std::uint32_t left, const F& merged) {
        const auto right = links_[left].next;
        if (right >= symbols_.size()) return;
        const auto id = merged(symbols_[left], symbols_[right]);
        if (id != kNone) queue_.emplace(id, left, right);
    }

    std::vector<std::uint16_t> symbols_;
    std::vector<Link> links_;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
};

}  // namespace

std::span<const std::byte> ClipVocabulary::embedded_file() {
    return {ballast_clip_vocabulary, ballast_clip_vocabulary_end};
}

ClipVocabulary::ClipVocabulary() {
    const auto text = unpack_lines(embedded_file(), kMerges + 1);
    const auto table = byte_table();
    byte_ids_ = table.id_of;
    std::unordered_map<std::string, std::uint16_t> ids;
    ids.reserve(kSize);
    for (std::size_t i = 0; i < kBytes; ++i) {
        ids.emplace(table.character[i], static_cast<std::uint16_t>(i));
        ids.emplace(table.character[i] + std::string(kEndOfWord),
                    static_cast<std::uint16_t>(kBytes + i));
    }
    merges_.reserve(kMerges);
    std::string_view rest = text;
    rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));  // a comment
    for (std::size_t i = 0; i < kMerges; ++i) {
        const auto line = rest.substr(0, rest.find('\n'));
        const auto blank = line.find(' ');
        if (line.size() == rest.size() || blank == std::string_view::npos)
            refuse("its list of merges ends too early");
        rest.remove_prefix(line.size() + 1);
        const std::string left(line.substr(0, blank));
        const std::string right(line.substr(blank + 1));
        const auto first = ids.find(left);
        const auto second = ids.find(right);
        if (first == ids.end() || second == ids.end()) refuse("a merge of unknown tokens");
        const auto id = static_cast<std::uint16_t>(kFirstMerge + i);
        merges_.push_back({pair_of(first->second, second->second), id});
        ids.emplace(left + right, id);
    }
    std::sort(merges_.begin(), merges_.end(),
              [](const Merge& a, const Merge& b) { return a.pair < b.pair; });
}

const ClipVocabulary::Merge* ClipVocabulary::find(std::uint16_t left, std::uint16_t right) const {
    const auto pair = pair_of(left, right);
    const auto found =
        std::lower_bound(merges_.begin(), merges_.end(), pair,
                         [](const Merge& merge, std::uint32_t key) { return merge.pair < key; });
    return found != merges_.end() && found->pair == pair ? &*found : nullptr;
}

void ClipVocabulary::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
    if (piece.empty()) return;
    if (piece == kStartOfText || piece == kEndOfText) {
        ids.push_back(piece == kStartOfText ? kStart : kEnd);
        return;
    }
    std::vector<std::uint16_t> symbols;
    symbols.reserve(piece.size());
    for (const char c : piece) symbols.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    symbols.back() = static_cast<std::uint16_t>(symbols.back() + kBytes);
    Word word(std::move(symbols));
    word.merge_all([this](std::uint16_t left, std::uint16_t right) {
        const auto* merge = find(left, right);
        return merge == nullptr ? Word::kNone : std::uint32_t{merge->id};
    });
    word.append_to(ids);
}

}  // namespace ballast::runtime::text
