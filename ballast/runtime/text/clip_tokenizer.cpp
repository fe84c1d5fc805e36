#include "ballast/runtime/text/clip_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ballast/engine/core/utf8.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/text/clip_text.hpp"
#include "ballast/runtime/text/prompt.hpp"
#include "ballast/runtime/text/unicode.hpp"

namespace ballast::runtime::text {

namespace {

constexpr std::string_view kMarker = "embedding:";
constexpr double kLargestSensibleWeight = 1000;  // prompts use 0.1 to 2
constexpr std::size_t kShownText = 40;           // bytes
constexpr std::size_t kLongSegment = 8;

/// The segment cut before every marker that stands behind a blank or line break; that character
/// is dropped.
std::vector<std::string_view> cut_at_embeddings(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    for (std::size_t at = 0; (at = text.find(kMarker, at)) != std::string_view::npos;
         at += kMarker.size()) {
        if (at <= begin || (text[at - 1] != ' ' && text[at - 1] != '\n')) continue;
        parts.push_back(text.substr(begin, at - 1 - begin));
        begin = at;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

/// Words between white space.
std::vector<std::string> words_of(std::string_view text) {
    const auto points = decode_utf8(text);
    std::vector<std::string> words;
    for (auto begin = points.begin(); begin != points.end();) {
        begin = std::find_if_not(begin, points.end(), is_white_space);
        const auto end = std::find_if(begin, points.end(), is_white_space);
        if (begin != end) words.push_back(encode_utf8({begin, end}));
        begin = end;
    }
    return words;
}

std::string_view without_commas(std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of(','), name.size()));
    return name.substr(0, name.find_last_not_of(',') + 1);
}

PromptToken token_of(std::int32_t id) {
    PromptToken token;
    token.id = id;
    return token;
}

/// Lays segments into windows.
class Layout {
public:
    explicit Layout(std::int32_t padding) : padding_(padding) { open(); }

    void add(const std::vector<PromptToken>& segment) {
        const bool may_be_split = segment.size() >= kLongSegment;
        for (std::size_t done = 0; done < segment.size();) {
            const auto room = ClipTokenizer::kWindow - 1 - windows_.back().size();
            const auto left = segment.size() - done;
            if (left > room && !may_be_split) {
                next();
                continue;
            }
            const auto count = std::min(left, room);
            const auto from = segment.begin() + static_cast<std::ptrdiff_t>(done);
            windows_.back().insert(windows_.back().end(), from,
                                   from + static_cast<std::ptrdiff_t>(count));
            done += count;
            if (left > room) next();
        }
    }

    std::vector<PromptWindow> finish() {
        close();
        return std::move(windows_);
    }

private:
    void open() {
        auto& window = windows_.emplace_back();
        window.reserve(ClipTokenizer::kWindow);
        window.push_back(token_of(ClipVocabulary::kStart));
    }
    void close() {
        windows_.back().push_back(token_of(ClipVocabulary::kEnd));
        windows_.back().resize(ClipTokenizer::kWindow, token_of(padding_));
    }
    void next() {
        close();
        open();
    }

    std::int32_t padding_;
    std::vector<PromptWindow> windows_;
};

}  // namespace

bool TokenizedPrompt::is_weighted() const {
    return std::any_of(windows.begin(), windows.end(), [](const PromptWindow& window) {
        return std::any_of(window.begin(), window.end(),
                           [](const PromptToken& token) { return token.weight != 1.0; });
    });
}

/// One prompt on its way through the tokenizer.
class ClipTokenizer::Reading {
public:
    Reading(const ClipTokenizer& tokenizer, const FindEmbedding& find)
        : tokenizer_(tokenizer), find_(find), layout_(tokenizer.options_.padding) {}

    void read(const WeightedText& segment) {
        judge_weight(segment);
        for (const auto part : cut_at_embeddings(segment.text)) {
            if (part.empty()) continue;
            if (!part.starts_with(kMarker)) {
                add_text(part, segment.weight);
                continue;
            }
            const auto rest = add_embedding(part.substr(kMarker.size()), segment.weight);
            if (!rest.empty()) add_text(rest, segment.weight);
        }
    }

    TokenizedPrompt finish() {
        return {.padding = tokenizer_.options_.padding,
                .windows = layout_.finish(),
                .warnings = std::move(warnings_)};
    }

private:
    /// As in the reference any weight counts; but nobody means these.
    void judge_weight(const WeightedText& segment) {
        if (std::abs(segment.weight) <= kLargestSensibleWeight) return;
        warnings_.push_back(fmt::format(
            "the prompt gives '{}' the weight {}, which {}: the picture may become black",
            escaped(utf8_prefix(segment.text, kShownText)), segment.weight,
            std::isfinite(segment.weight) ? "is very large" : "is no number to compute with"));
    }

    void add(Segment segment, double weight) {
        ++group_;
        for (auto& token : segment) {
            token.weight = weight;
            token.group = group_;
        }
        layout_.add(segment);
    }

    void add_text(std::string_view text, double weight) {
        std::vector<std::int32_t> ids;
        for (const auto& piece : clip_pieces(text)) tokenizer_.vocabulary().encode(piece, ids);
        Segment segment;
        segment.reserve(ids.size());
        for (const auto id : ids) segment.push_back(token_of(id));
        add(std::move(segment), weight);
    }

    /// Adds the rows of the embedding whose name starts `text` and returns the text behind it.
    std::string add_embedding(std::string_view text, double weight) {
        const auto words = words_of(text);
        if (words.empty())
            throw Failure({.code = Code::bad_value,
                           .what = "cannot read the prompt",
                           .why = "no name follows 'embedding:'",
                           .hint = "write embedding:NAME with the name of a file in the embeddings "
                                   "folder, or take the word out"});
        std::string name = words.front();
        std::string rest;
        auto rows = lookup(name);
        if (const auto bare = without_commas(name); rows == nullptr && bare.size() < name.size()) {
            rest = name.substr(name.find_last_not_of(',') + 1);
            name = std::string(bare);
            rows = name.empty() ? nullptr : lookup(name);
        }
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (!rest.empty()) rest += ' ';
            rest += words[i];
        }
        if (rows == nullptr) {
            warnings_.push_back(fmt::format("embedding:{} was not found and is left out", name));
        } else if (tokenizer_.options_.width != 0 && rows->width != tokenizer_.options_.width) {
            warnings_.push_back(fmt::format(
                "embedding:{} is {} wide, this text encoder's tokens are {} wide: it is left out",
                name, rows->width, tokenizer_.options_.width));
        } else {
            Segment segment(rows->rows());
            for (std::size_t i = 0; i < segment.size(); ++i) {
                segment[i].embedding = rows;
                segment[i].row = i;
            }
            add(std::move(segment), weight);
        }
        return rest;
    }

    /// Asks once per name: a prompt may use an embedding many times.
    std::shared_ptr<const EmbeddingRows> lookup(const std::string& name) {
        if (!find_) return nullptr;
        const auto known = found_.find(name);
        if (known != found_.end()) return known->second;
        return found_.emplace(name, find_(name)).first->second;
    }

    const ClipTokenizer& tokenizer_;
    const FindEmbedding& find_;
    std::map<std::string, std::shared_ptr<const EmbeddingRows>> found_;
    Layout layout_;
    std::vector<std::string> warnings_;
    std::int32_t group_ = 0;
};

TokenizedPrompt ClipTokenizer::tokenize(std::string_view prompt, const FindEmbedding& find) const {
    Reading reading(*this, find);
    for (const auto& segment : parse_weights(prompt)) reading.read(segment);
    return reading.finish();
}

const ClipVocabulary& ClipTokenizer::vocabulary() const {
    std::call_once(unpacked_, [this] { vocabulary_ = std::make_unique<const ClipVocabulary>(); });
    return *vocabulary_;
}

}  // namespace ballast::runtime::text
