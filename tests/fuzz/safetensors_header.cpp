// Whatever the bytes of a file, reading its header ends in a consistent directory or in an error
// with a reason, on one line.
// Seeds: tests/cases/*.safetensors tests/cases/*.gguf

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ballast/engine/formats/foreign.hpp"
#include "ballast/engine/formats/safetensors.hpp"
#include "tests/support/directory_check.hpp"

namespace {

using namespace ballast;

void check(const Error& error) {
    if (error.why.empty() || error.hint.empty()) std::abort();
    if (to_string(error).find_first_of("\n\r\x1b") != std::string::npos) std::abort();
}

void interpret(std::string_view header, std::uint64_t data_bytes,
               const formats::OpenOptions& options) {
    const auto opened = formats::interpret_safetensors(
        "fuzz", header, Bytes{8 + header.size() + data_bytes}, options);
    if (!opened) return check(opened.error());
    if (!testing::broken_rule(*opened).empty()) std::abort();
    if (opened->warnings().size() > (options.strict ? 1U : 2U)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view file(reinterpret_cast<const char*>(data), size);
    const auto head = file.substr(0, formats::kHeadBytes);
    if (const auto foreign = formats::recognise_foreign(head)) check(*foreign);
    static_cast<void>(formats::looks_like_safetensors(head));
    if (size < 8) return 0;

    // the length field need not fit: most changes to a header would be wasted on that one error
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 8; ++i) length |= std::uint64_t{data[i]} << (8 * i);
    const auto rest = file.substr(8);
    const auto header = rest.substr(0, length);
    const auto data_bytes = length < rest.size() ? rest.size() - length : length % 1'000'000;
    interpret(header, data_bytes, {});
    interpret(header, data_bytes, {.accept_gaps = true, .strict = true});
    return 0;
}
