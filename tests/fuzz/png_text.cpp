// Whatever the bytes, reading the text chunks of a PNG file ends in texts or in an error.
// Seeds: tests/golden/api/*.png

#include <cstdint>
#include <cstdlib>

#include "ballast/graph/png_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view file(reinterpret_cast<const char*>(data), size);
    const auto texts = ballast::graph::png_texts(file);
    if (texts && !ballast::graph::is_png(file)) std::abort();
    if (!texts && texts.error().why.empty()) std::abort();
    return 0;
}
