#pragma once
// Small files of /proc and /sys as text and numbers. Nothing here fails: what cannot be read or
// understood is unknown.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/bytes.hpp"

namespace ballast::machine {

/// Digits and nothing else; nothing for signs, words and what 64 bits cannot hold.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// Cuts the first line off `text` and returns it without its end.
std::string_view next_line(std::string_view& text);

/// The number after `key` and blanks, in lines of "key number".
std::optional<std::uint64_t> count_after(std::string_view text, std::string_view key);

/// The whole file; nothing if it cannot be read or has more than 1 MiB.
std::optional<std::string> small_file(const std::filesystem::path& file);

/// A file that holds one number.
std::optional<std::uint64_t> count_in(const std::filesystem::path& file);
std::optional<Bytes> bytes_in(const std::filesystem::path& file);

}  // namespace ballast::machine
