#include "ballast/engine/core/file_chunks.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "ballast/engine/core/system_error.hpp"

namespace ballast {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16U;

struct Close {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

}  // namespace

Result<void> for_each_chunk(const std::filesystem::path& path,
                            const std::function<Result<void>(std::string_view)>& take) {
    const bool is_stdin = path == "-";
    const auto refusal = [&](int number) {
        return fail(
            system_error(is_stdin ? "standard input" : path, "cannot read the file", number));
    };
    const std::unique_ptr<std::FILE, Close> file(is_stdin ? stdin : std::fopen(path.c_str(), "rb"));
    if (!file) return refusal(errno);
    std::string chunk(kChunk, '\0');
    while (const auto count = std::fread(chunk.data(), 1, chunk.size(), file.get()))
        if (auto taken = take(std::string_view(chunk).substr(0, count)); !taken) return taken;
    if (std::ferror(file.get()) != 0) return refusal(errno);
    return {};
}

}  // namespace ballast
