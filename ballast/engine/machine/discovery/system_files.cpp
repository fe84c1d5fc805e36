#include "ballast/engine/machine/discovery/system_files.hpp"

#include <charconv>

#include "ballast/engine/core/text_file.hpp"

namespace ballast::machine {
namespace {

constexpr Bytes kLargestFile{1U << 20U};

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t value = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view next_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

std::optional<std::uint64_t> count_after(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const auto line = trimmed(next_line(text));
        if (!line.starts_with(key)) continue;
        const auto rest = line.substr(key.size());
        if (rest.starts_with(' ') || rest.starts_with('\t')) return parse_count(trimmed(rest));
    }
    return std::nullopt;
}

std::optional<std::string> small_file(const std::filesystem::path& file) {
    auto text = read_text_file(file, kLargestFile);
    if (!text) return std::nullopt;
    return *std::move(text);
}

std::optional<std::uint64_t> count_in(const std::filesystem::path& file) {
    const auto text = small_file(file);
    return text ? parse_count(trimmed(*text)) : std::nullopt;
}

std::optional<Bytes> bytes_in(const std::filesystem::path& file) {
    const auto count = count_in(file);
    return count ? std::optional(Bytes{*count}) : std::nullopt;
}

}  // namespace ballast::machine
