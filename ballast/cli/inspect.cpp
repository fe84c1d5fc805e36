#include "ballast/cli/inspect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/cli/model_config.hpp"
#include "ballast/engine/core/utf8.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/component.hpp"
#include "ballast/models/family.hpp"

namespace ballast::cli {
namespace {

using formats::TensorDirectory;
using formats::TensorEntry;

/// What is worth saying beyond the directory itself.
struct Summary {
    std::map<std::string, std::size_t> dtypes;  ///< tensors of each format
    std::size_t blocks = 0;
    Bytes loose_bytes;
    models::Recognition model;
    Json config;
    std::vector<std::string> warnings;
    std::optional<Bytes> verified;
};

Summary summary_of(const TensorDirectory& directory) {
    Summary summary;
    for (const auto& entry : directory.entries())
        ++summary.dtypes[std::string(to_string(entry.type))];
    const auto table = models::blocks_of_file(directory);
    for (const auto& block : table.blocks()) {
        if (block.name == plan::kLooseBlock)
            summary.loose_bytes = block.bytes;
        else
            ++summary.blocks;
    }
    summary.model = models::recognise(directory);
    summary.warnings = directory.warnings();
    summary.config = model_config(directory, summary.model.family, summary.warnings);
    return summary;
}

/// Reads the whole file once and drops what it reads.
Result<Bytes> read_everything(const std::filesystem::path& path) {
    auto file = formats::File::open(path);
    if (!file) return fail(file.error());
    std::vector<std::byte> buffer(std::size_t{4} << 20U);
    const auto size = file->size().count();
    for (std::uint64_t offset = 0; offset < size; offset += buffer.size()) {
        const auto count = std::min<std::uint64_t>(buffer.size(), size - offset);
        const auto read = file->read_at(offset, std::span(buffer).first(count));
        if (!read) return fail(read.error());
    }
    return file->size();
}

Json list_of(const std::vector<TensorEntry>& entries) {
    Json list = Json::array();
    for (const auto& entry : entries)
        list.push_back({{"name", entry.name},
                        {"dtype", to_string(entry.type)},
                        {"shape", entry.shape},
                        {"offset", entry.offset},
                        {"bytes", entry.bytes.count()}});
    return list;
}

enum class Tensors { summed_up, listed };

Json document_of(const TensorDirectory& directory, const Summary& summary, Tensors tensors) {
    Json document{{"format", formats::to_string(directory.format())},
                  {"size", directory.file_size().count()},
                  {"tensors", directory.entries().size()},
                  {"bytes", directory.tensor_bytes().count()},
                  {"dtypes", summary.dtypes},
                  {"metadata", directory.metadata()},
                  {"model",
                   {{"family", models::to_string(summary.model.family)},
                    {"text", summary.model.text},
                    {"config", summary.config}}},
                  {"blocks", summary.blocks},
                  {"loose_bytes", summary.loose_bytes.count()},
                  {"warnings", summary.warnings}};
    if (summary.verified) document["verified_bytes"] = summary.verified->count();
    if (tensors == Tensors::listed) document["tensor_list"] = list_of(directory.entries());
    return document;
}

/// Metadata values can be whole training logs.
std::string shortened(const std::string& value) {
    constexpr std::size_t kMost = 120;
    if (value.size() <= kMost) return escaped(value);
    return escaped(utf8_prefix(value, kMost)) + fmt::format("... ({} bytes)", value.size());
}

std::string text_of(const TensorDirectory& directory, const Summary& summary, Tensors tensors) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{}: {}, {}, {} tensors\n", escaped(directory.path().string()),
                   formats::to_string(directory.format()), to_string(directory.file_size()),
                   directory.entries().size());
    fmt::format_to(out, "model       {} ({})\n", models::to_string(summary.model.family),
                   summary.model.text);
    fmt::format_to(out, "weights     {}\n", to_string(directory.tensor_bytes()));
    for (const auto& [type, count] : summary.dtypes)
        fmt::format_to(out, "            {} {}\n", count, type);
    fmt::format_to(out, "blocks      {}, loose parameters {}\n", summary.blocks,
                   to_string(summary.loose_bytes));
    for (const auto& [part, config] : summary.config.items())
        fmt::format_to(out, "{:<11} {}\n", part, config.dump());
    for (const auto& [key, value] : directory.metadata())
        fmt::format_to(out, "metadata    {} = {}\n", escaped(key), shortened(value));
    for (const auto& warning : summary.warnings)
        fmt::format_to(out, "warning     {}\n", escaped(warning));
    if (summary.verified)
        fmt::format_to(out, "verified    {} were read\n", to_string(*summary.verified));
    if (tensors == Tensors::listed)
        for (const auto& entry : directory.entries())
            fmt::format_to(out, "{:>12} {:>12}  {:<8} [{}]  {}\n", entry.offset,
                           entry.bytes.count(), to_string(entry.type), fmt::join(entry.shape, ", "),
                           escaped(entry.name));
    return text;
}

}  // namespace

int inspect(const Invocation& invocation, Console& console) {
    const auto settings =
        resolve_settings({.command = kInspectCommand, .command_line = invocation.given});
    if (!settings) return console.fail(settings.error());
    const auto directory = formats::open_tensors(invocation.operand);
    if (!directory) return console.fail(directory.error());
    auto summary = summary_of(*directory);
    if (settings->flag("verify")) {
        const auto verified = read_everything(invocation.operand);
        if (!verified) return console.fail(verified.error());
        summary.verified = *verified;
    }
    const auto tensors = settings->flag("tensors") ? Tensors::listed : Tensors::summed_up;
    if (console.form() == Form::json)
        console.print(document_of(*directory, summary, tensors));
    else
        console.say(text_of(*directory, summary, tensors));
    return 0;
}

}  // namespace ballast::cli
