#include "ballast/cli/workflow_file.hpp"

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/graph/png_text.hpp"

namespace ballast::cli {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;

Result<std::string> read_all(const std::filesystem::path& path) {
    const auto file = formats::File::open(path);
    if (!file) return fail(file.error());
    if (file->size().count() > kMostBytes) {
        return fail(Error{.code = Code::foreign_file,
                          .what = "cannot read the workflow",
                          .why = "the file is too large for a workflow: " + to_string(file->size()),
                          .place = {.file = path.string()},
                          .hint = "give a workflow (JSON), or a picture that Ballast has saved"});
    }
    std::string text(file->size().count(), '\0');
    auto read = file->read_at(0, std::as_writable_bytes(std::span(text)));
    if (!read) return fail(std::move(read).error());
    return text;
}

}  // namespace

Result<graph::Workflow> read_workflow_file(const std::filesystem::path& path) {
    const auto text = read_all(path);
    if (!text) return fail(text.error());
    if (!graph::is_png(*text)) return graph::workflow_from_text(*text, path.string());

    auto chunks = graph::png_texts(*text);
    if (!chunks) {
        auto error = std::move(chunks).error();
        error.place.file = path.string();
        return fail(std::move(error));
    }
    for (const auto& chunk : *chunks)
        if (chunk.keyword == "prompt") return graph::workflow_from_text(chunk.text, path.string());
    return fail(
        Error{.code = Code::not_found,
              .what = "cannot read the workflow",
              .why = "the picture carries none (it has no text 'prompt')",
              .place = {.file = path.string()},
              .hint = "use a picture as it was saved; editors and web sites drop such texts"});
}

}  // namespace ballast::cli
