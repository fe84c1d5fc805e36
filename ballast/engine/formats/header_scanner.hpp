#pragma once
// Takes the JSON of a safetensors header apart: the few things that may stand in one, and nothing
// more.
//
// A general JSON library, even one that only reports events, spends 80 ms on the header of a
// hundred thousand tensors. This scanner walks the text once and copies nothing but texts with
// escapes. It cannot recurse: nesting is up to the caller, who knows how deep a header is.

#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>

namespace ballast::formats {

/// A position in a JSON text. After the first fault every further call returns false, so callers
/// check once at the end of a construct.
class HeaderScanner {
public:
    /// `text` must outlive the scanner and every view it gives out.
    explicit HeaderScanner(std::string_view text) : text_(text) {}

    [[nodiscard]] bool has_failed() const { return !fault_.empty(); }
    [[nodiscard]] const std::string& fault() const { return fault_; }
    /// Bytes from the start of the text; where the fault lies, if there is one.
    [[nodiscard]] std::size_t position() const { return position_; }

    /// Notes a fault at the present position, or at `position`, unless there was one before.
    bool fail(std::string why) { return fail_at(position_, std::move(why)); }
    bool fail_at(std::size_t position, std::string why);

    /// Skips white space, then takes `c` if it comes next.
    bool accept(char c) {
        skip_white_space();
        if (position_ >= text_.size() || text_[position_] != c || has_failed()) return false;
        ++position_;
        return true;
    }
    /// The same, but anything else is a fault.
    bool expect(char c) { return accept(c) || fail_expecting(c); }

    /// Skips white space and tells whether the text ends there.
    bool is_at_end() {
        skip_white_space();
        return position_ == text_.size();
    }

    /// A string with its escapes resolved. Malformed UTF-8, unescaped control characters and lone
    /// surrogates are faults. The view lives as long as the text and what `take_resolved` gave.
    bool string(std::string_view& out);

    /// An integer from 0 to 2^64-1. Signs, fractions, exponents and leading zeros are faults.
    bool unsigned_integer(std::uint64_t& out);

    /// What was copied since it contained escapes: to be kept by whoever keeps the views.
    [[nodiscard]] std::forward_list<std::string> take_resolved() { return std::move(resolved_); }

private:
    void skip_white_space() {
        while (position_ < text_.size() && is_white_space(text_[position_])) ++position_;
    }
    static bool is_white_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

    bool fail_expecting(char c);
    bool escape(std::string& out);
    bool surrogate_pair(char32_t high, std::string& out);
    bool four_hex(char32_t& out);

    std::string_view text_;
    std::size_t position_ = 0;
    std::string fault_;
    std::forward_list<std::string> resolved_;
};

}  // namespace ballast::formats
