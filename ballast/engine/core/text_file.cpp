#include "ballast/engine/core/text_file.hpp"

#include "ballast/engine/core/file_chunks.hpp"

namespace ballast {

Result<std::string> read_text_file(const std::filesystem::path& path, Bytes most) {
    std::string text;
    const auto read = for_each_chunk(path, [&](std::string_view chunk) -> Result<void> {
        text += chunk;
        if (text.size() <= most.count()) return {};
        return fail(Error{.code = Code::foreign_file,
                          .what = "cannot read the file",
                          .why = "it has more than " + to_string(most),
                          .place = {.file = path == "-" ? "standard input" : path.string()},
                          .hint = "it is probably another file than the one you meant"});
    });
    if (!read) return fail(read.error());
    return text;
}

}  // namespace ballast
