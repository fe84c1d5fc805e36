#include "ballast/runtime/text/prompt.hpp"

#include <limits>
#include <optional>

#include "ballast/runtime/text/python_float.hpp"

namespace ballast::runtime::text {

namespace {

constexpr double kLevel = 1.1;
constexpr auto kUnclosed = std::numeric_limits<std::size_t>::max();

/// A parenthesis that opens a piece.
struct Opening {
    std::size_t position = 0;
    std::size_t close = kUnclosed;  ///< position of its partner
    std::size_t next = 0;           ///< index of the first opening behind the partner
};

/// A prompt with escapes resolved, and the parentheses in it that count.
struct Parenthesised {
    std::string text;
    std::vector<Opening> openings;  ///< by position
    std::vector<bool> closes;       ///< per byte of the text: a closing parenthesis, not escaped
};

Parenthesised resolve(std::string_view prompt) {
    Parenthesised result;
    result.text.reserve(prompt.size());
    std::vector<std::size_t> open;  // indices of openings that wait for their partner
    std::size_t surplus = 0;        // closing parentheses that nothing opened
    for (std::size_t i = 0; i < prompt.size(); ++i) {
        char c = prompt[i];
        const bool is_escape =
            c == '\\' && i + 1 < prompt.size() && (prompt[i + 1] == '(' || prompt[i + 1] == ')');
        if (is_escape) {
            c = prompt[++i];
        } else if (c == '(' && surplus > 0) {
            --surplus;
        } else if (c == '(') {
            open.push_back(result.openings.size());
            result.openings.push_back({.position = result.text.size()});
        } else if (c == ')' && open.empty()) {
            ++surplus;
        } else if (c == ')') {
            auto& opening = result.openings[open.back()];
            opening.close = result.text.size();
            opening.next = result.openings.size();
            open.pop_back();
        }
        result.closes.push_back(c == ')' && !is_escape);
        result.text += c;
    }
    return result;
}

/// The part of a text that still has to be cut; `opening` is the first one at or behind `begin`.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t opening = 0;
    double weight = 1.0;
};

/// What stands between two parentheses, without the `:w` at its end, and with the weight that
/// this gives or the level adds.
Span inner_span(const Parenthesised& source, Span inner) {
    inner.weight *= kLevel;
    // a number holds no parenthesis, so looking back ends at the nearest one
    const std::string_view text(source.text.data() + inner.begin, inner.end - inner.begin);
    const auto colon = text.find_last_of(":()");
    if (colon == std::string_view::npos || colon == 0 || text[colon] != ':') return inner;
    if (const auto weight = parse_python_float(text.substr(colon + 1))) {
        inner.weight = *weight;
        inner.end = inner.begin + colon;
    }
    return inner;
}

}  // namespace

std::vector<WeightedText> parse_weights(std::string_view prompt) {
    const auto source = resolve(prompt);
    std::vector<WeightedText> segments;
    const auto emit = [&](std::size_t begin, std::size_t end, double weight) {
        if (begin < end) segments.push_back({source.text.substr(begin, end - begin), weight});
    };
    std::vector<Span> pending{{.end = source.text.size()}};
    while (!pending.empty()) {
        const auto span = pending.back();
        pending.pop_back();
        const auto* opening =
            span.opening < source.openings.size() ? &source.openings[span.opening] : nullptr;
        if (opening == nullptr || opening->position >= span.end) {
            emit(span.begin, span.end, span.weight);
            continue;
        }
        emit(span.begin, opening->position, span.weight);
        const bool is_closed = opening->close < span.end;
        const auto end = is_closed ? opening->close + 1 : span.end;
        if (!is_closed && !source.closes[end - 1]) {
            emit(opening->position, end, span.weight);
            continue;
        }
        if (is_closed)
            pending.push_back(
                {.begin = end, .end = span.end, .opening = opening->next, .weight = span.weight});
        pending.push_back(inner_span(source, {.begin = opening->position + 1,
                                              .end = end - 1,
                                              .opening = span.opening + 1,
                                              .weight = span.weight}));
    }
    return segments;
}

}  // namespace ballast::runtime::text
