// Whatever somebody types as an amount of memory, a number, a device or a name: it is read or
// refused, and what is shown of it is one line of well-formed UTF-8.
// Seeds: tests/cases/st-24-*.safetensors

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/core/python_number.hpp"
#include "ballast/engine/core/utf8.hpp"

namespace {

using namespace ballast;

void check_shown(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto length = utf8_length(text, i);
        if (length == 0) std::abort();
        if (length == 1 && (text[i] < 0x20 || text[i] == 0x7F)) std::abort();
        i += length;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto shown = escaped(text);
    check_shown(shown);
    if (escaped(shown) != shown) std::abort();

    const auto amount = parse_bytes(text);
    if (!amount && (amount.error().why.empty() || !amount.error().place.column)) std::abort();
    if (amount) {
        const auto again = parse_bytes(std::to_string(amount->count()));
        if (!again || *again != *amount) std::abort();
    }

    // the sign is the text's own, and nothing else of the number depends on it
    const auto number = parse_python_float(text);
    if (number && !text.starts_with('+') && !text.starts_with('-')) {
        const auto negative = parse_python_float("-" + std::string(text));
        if (!negative || (*number == *number && *negative != -*number)) std::abort();
    }

    const auto device = parse_device(text);
    if (device && parse_device(to_string(*device)) != device) std::abort();
    return 0;
}
