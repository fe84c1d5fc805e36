#pragma once
// Reading and checking one setting's text.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/settings_table.hpp"

namespace ballast {

/// "1", "true", "yes", "on" and their opposites, letter case ignored; "" is false.
std::optional<bool> parse_flag(std::string_view text);

std::optional<std::int64_t> parse_integer(std::string_view text);

/// "cpu=4gb" -> {cpu, 4 GiB}. Fails with `usage`.
Result<std::pair<DeviceId, Bytes>> parse_device_size(std::string_view text);

/// An amount of memory: bytes, or percent of something that is known later.
struct MemoryShare {
    std::optional<Bytes> bytes{};
    std::optional<double> percent{};
};

/// "2.5" (GiB), "800mb", "10%". Fails with `usage`.
Result<MemoryShare> parse_memory_share(std::string_view text);

/// Whether `text` is a value of `setting`. Fails with `usage` or `not_available`; `what` and `why`
/// (and perhaps `hint`) are set, the place is the caller's.
Result<void> check_value(const Setting& setting, std::string_view text);

/// "none|text" -> {"none", "text"}; the elements view the argument.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace ballast
