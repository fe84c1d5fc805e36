#include "ballast/cli/workflow_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/text_file.hpp"
#include "ballast/engine/core/utf8.hpp"
#include "ballast/engine/formats/foreign.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/safetensors.hpp"
#include "ballast/graph/png_text.hpp"
#include "ballast/graph/set_input.hpp"

namespace ballast::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr Bytes kMost{std::uint64_t{256} << 20U};

Error not_in_picture(const std::string& file, const std::vector<graph::PngText>& texts) {
    Error error{.code = Code::not_found,
                .what = "cannot read the workflow",
                .why = "the picture carries none (it has no text 'prompt')",
                .place = {.file = file},
                .hint = "use a picture as it was saved; editors and web sites drop such texts"};
    if (std::ranges::count(texts, "workflow", &graph::PngText::keyword) != 0) {
        error.why = "the picture carries only the editor's own description of it";
        error.hint = "open the picture in ComfyUI and export the workflow in API format";
    }
    return error;
}

std::string from_latin1(std::string_view text) {
    std::string utf8;
    for (const char c : text) append_utf8(utf8, static_cast<unsigned char>(c));
    return utf8;
}

Result<graph::Workflow> workflow_of_picture(const std::string& picture, const std::string& file) {
    auto texts = graph::png_texts(picture);
    if (!texts) {
        auto error = std::move(texts).error();
        error.place.file = file;
        return fail(std::move(error));
    }
    const auto prompt = std::ranges::find(*texts, "prompt", &graph::PngText::keyword);
    if (prompt == texts->end()) return fail(not_in_picture(file, *texts));
    auto document = graph::parse_json(prompt->text, file);
    if (!document) return fail(std::move(document).error());

    auto others = graph::Json::object();
    for (const auto& text : *texts) {
        if (text.keyword == "prompt") continue;
        // texts of other programs need not be JSON
        if (auto value = graph::parse_json(text.text))
            others[from_latin1(text.keyword)] = *std::move(value);
    }
    auto submission = graph::Json::object();
    submission["prompt"] = *std::move(document);
    submission["extra_data"]["extra_pnginfo"] = std::move(others);
    return graph::workflow_from_json(std::move(submission), file);
}

bool is_plain_file(const std::filesystem::path& path) {
    std::error_code failed;
    return std::filesystem::is_regular_file(path, failed);
}

/// The first bytes of a plain file; nothing where they cannot be read.
std::optional<std::string> head_of(const std::filesystem::path& path) {
    if (!is_plain_file(path)) return std::nullopt;
    const auto file = formats::File::open(path);
    if (!file) return std::nullopt;
    std::string head(std::min<std::uint64_t>(formats::kHeadBytes, file->size().count()), '\0');
    if (!file->read_at(0, std::as_writable_bytes(std::span(head)))) return std::nullopt;
    return head;
}

bool begins_weights(std::string_view head) {
    const bool is_archive = head.starts_with("PK\x03\x04") && head.find("data.pkl") != head.npos;
    return formats::looks_like_safetensors(head) || head.starts_with("GGUF") || is_archive;
}

/// What to say when the file is a model, which may be too large to be read whole.
std::optional<Error> refusal_of_weights(const std::filesystem::path& path) {
    if (path == "-") return std::nullopt;
    const auto head = head_of(path);
    if (!head || !begins_weights(*head)) return std::nullopt;  // reading it says why
    return Error{.code = Code::foreign_file,
                 .what = "cannot read the workflow",
                 .why = "it is a weight file",
                 .place = {.file = path.string()},
                 .hint = fmt::format("`ballast inspect {}` says what it holds; a workflow names it "
                                     "in a loader",
                                     path.string())};
}

}  // namespace

Result<graph::Workflow> read_workflow_file(const std::filesystem::path& path) {
    if (auto weights = refusal_of_weights(path)) return fail(*std::move(weights));
    const auto text = read_text_file(path, kMost);
    if (!text) {
        auto error = text.error();
        error.what = "cannot read the workflow";
        error.hint = "give a workflow (JSON), or a picture that Ballast has saved";
        return fail(std::move(error));
    }
    const std::string file = path == "-" ? "standard input" : path.string();
    if (graph::is_png(*text)) return workflow_of_picture(*text, file);
    return graph::workflow_from_text(*text, file);
}

Result<graph::Workflow> read_workflow(const std::filesystem::path& path, const Settings& settings,
                                      const graph::NodeCatalogue& catalogue) {
    auto workflow = read_workflow_file(path);
    if (!workflow) return workflow;
    for (const auto& assignment : settings.list("set"))
        if (const auto done = graph::set_input(*workflow, assignment, catalogue); !done)
            return fail(done.error());
    return workflow;
}

bool is_workflow_file(const std::filesystem::path& path) {
    if (path == "-") return true;
    const auto head = head_of(path);
    if (!head || begins_weights(*head)) return false;
    std::string_view text = *head;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    return graph::is_png(*head) || trimmed(text).starts_with('{');
}

graph::NodeCatalogue catalogue_for(const graph::PlanningMachine& machine) {
    return graph::standard_catalogue(graph::Devices(graph::offered_devices(machine)));
}

}  // namespace ballast::cli
