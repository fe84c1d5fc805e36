#include "ballast/engine/core/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace ballast {
namespace {

struct Close {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

Error cannot_read(const std::filesystem::path& path, Code code, std::string why) {
    return {.code = code,
            .what = "cannot read the file",
            .why = std::move(why),
            .place = {.file = path == "-" ? "standard input" : path.string()}};
}

Error refusal_of(const std::filesystem::path& path, int fault) {
    if (fault == ENOENT) return cannot_read(path, Code::not_found, "there is no such file");
    if (fault == EISDIR) return cannot_read(path, Code::io, "it is a folder");
    return cannot_read(path, Code::io, std::generic_category().message(fault));
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, Bytes most) {
    const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin
                                                             : std::fopen(path.c_str(), "rb"));
    if (!file) return fail(refusal_of(path, errno));
    std::string text;
    std::array<char, 65536> chunk{};
    while (const auto count = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
        text.append(chunk.data(), count);
        if (text.size() > most.count())
            return fail(
                cannot_read(path, Code::foreign_file, "it has more than " + to_string(most)));
    }
    if (std::ferror(file.get()) != 0) return fail(refusal_of(path, errno));
    return text;
}

}  // namespace ballast
