#include "ballast/engine/core/output_name.hpp"

#include <fmt/format.h>

#include "ballast/engine/core/utf8.hpp"

namespace ballast {
namespace {

constexpr std::size_t kLongestPart = 255;  // what all common file systems take, in bytes
constexpr std::string_view kEnding = "_00001_.png";
constexpr std::size_t kShown = 100;

tl::unexpected<Error> refused(std::string_view prefix, std::string why) {
    return fail(Error{.code = Code::bad_value,
                      .what = "the filename prefix cannot be used",
                      .why = std::move(why),
                      .place = {.file = escaped(utf8_prefix(prefix, kShown))},
                      .hint = "use a name, or folders below the output folder and a name"});
}

}  // namespace

Result<OutputName> parse_output_name(std::string_view prefix) {
    if (prefix.find('\0') != std::string_view::npos)
        return refused(prefix, "it holds a zero character");
    auto below = std::filesystem::path(prefix).lexically_normal();
    if (!below.has_filename()) below = below.parent_path();  // "folder/" means "folder"
    if (below.empty()) below = ".";
    if (below.is_absolute() || *below.begin() == "..")
        return refused(prefix, "it leads out of the output folder");

    OutputName result{.folder = below.parent_path(), .name = below.filename().string()};
    const auto is_too_long = [](std::size_t length) { return length > kLongestPart; };
    for (const auto& part : result.folder)
        if (is_too_long(part.native().size()))
            return refused(prefix, fmt::format("a folder's name has {} bytes, more than {}",
                                               part.native().size(), kLongestPart));
    if (is_too_long(result.name.size() + kEnding.size()))
        return refused(prefix, fmt::format("the name has {} bytes, more than {}",
                                           result.name.size(), kLongestPart - kEnding.size()));
    return result;
}

Result<OutputName> parse_output_pattern(std::string_view prefix) {
    std::string replaced(prefix);
    for (const auto token : kOutputTokens)
        for (auto at = replaced.find(token); at != std::string::npos; at = replaced.find(token, at))
            replaced.replace(at, token.size(), 1, '0');
    return parse_output_name(replaced);
}

}  // namespace ballast
