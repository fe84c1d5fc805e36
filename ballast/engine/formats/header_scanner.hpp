#pragma once
// Reads the JSON of a safetensors header: an object of flat objects, nothing more.
//
// A general JSON library builds a tree of allocations per tensor; headers with a hundred thousand
// tensors then take most of a second. This scanner walks the text once, allocates only the names
// and shapes that are kept, and cannot recurse.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/result.hpp"

namespace ballast::formats {

/// A position in a JSON text. After the first fault every further call returns false, so callers
/// check once at the end of a construct.
class HeaderScanner {
public:
    explicit HeaderScanner(std::string_view text) : text_(text) {}

    [[nodiscard]] bool has_failed() const { return !fault_.empty(); }
    [[nodiscard]] const std::string& fault() const { return fault_; }
    /// Bytes from the start of the text; where the fault lies, if there is one.
    [[nodiscard]] std::size_t position() const { return position_; }

    /// Notes a fault at the present position, unless there was one before.
    bool fail(std::string why);

    /// Skips white space, then takes `c` if it comes next.
    bool accept(char c);
    /// The same, but anything else is a fault.
    bool expect(char c);
    /// True if only white space is left.
    [[nodiscard]] bool is_at_end();

    /// A string with its escapes resolved. Malformed UTF-8 and lone surrogates are faults.
    bool string(std::string& out);
    /// An integer from 0 to 2^64-1. Fractions, exponents and signs are faults.
    bool unsigned_integer(std::uint64_t& out);
    /// `[1, 2, 3]`, at most `most` of them.
    bool integers(std::vector<std::uint64_t>& out, std::size_t most);

private:
    void skip_white_space();
    bool escape(std::string& out);
    bool four_hex(std::uint32_t& out);

    std::string_view text_;
    std::size_t position_ = 0;
    std::string fault_;
};

}  // namespace ballast::formats
