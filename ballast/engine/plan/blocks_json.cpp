#include "ballast/engine/plan/blocks_json.hpp"

#include <fmt/format.h>

#include <set>

#include "ballast/engine/core/json_members.hpp"
#include "ballast/engine/plan/block_table.hpp"

namespace ballast::plan {
namespace {

PlanBlock read_block(JsonMembers block) {
    PlanBlock result{.name = block.text("name"),
                     .type = block.text("type"),
                     .is_fetchable = block.truth("fetchable").value_or(true),
                     .activation_bytes = block.bytes("activation_bytes")};
    if (result.name.empty()) block.refuse("name", "the block has no name");
    const auto bytes = block.bytes("bytes");
    if (!bytes && !block.has("bytes")) block.refuse("bytes", "the block has no size");
    result.bytes = bytes.value_or(Bytes{});
    if (const auto flops = block.bytes("flops")) result.flops = flops->count();
    return result;
}

BlockList read_list(JsonMembers list, JsonFindings& findings) {
    BlockList result{.is_file_backed = list.truth("file_backed").value_or(true)};
    if (!list.has("blocks")) list.refuse("blocks", "the list of blocks is missing");
    std::set<std::string> names;
    for (auto& block : list.objects("blocks")) {
        result.blocks.push_back(read_block(std::move(block)));
        if (!names.insert(result.blocks.back().name).second)
            findings.refuse(Code::bad_value,
                            fmt::format("blocks[{}].name", result.blocks.size() - 1),
                            fmt::format("'{}' is listed twice", result.blocks.back().name),
                            "give each block its own name");
    }
    const auto loose = list.bytes("loose_bytes").value_or(Bytes{});
    if (!loose.is_zero())
        result.blocks.push_back({.name = std::string(kLooseBlock),
                                 .bytes = loose,
                                 .is_fetchable = false,
                                 .is_loose = true,
                                 .flops = 0});
    return result;
}

}  // namespace

Result<BlockList> parse_blocks(std::string_view text, const std::filesystem::path& name) {
    const auto about = [&](Code code, std::string key, std::string why, std::string hint) {
        return fail(Error{.code = code,
                          .what = "cannot use the list of blocks",
                          .why = std::move(why),
                          .place = {.file = name.string(), .key = std::move(key)},
                          .hint = std::move(hint)});
    };
    const auto document = JsonDocument::parse(text);
    if (!document)
        return about(document.error().code, {}, document.error().why,
                     R"(a list is {"blocks": [{"name": "B0", "bytes": 1000}, ...]})");
    JsonFindings findings;
    auto list = read_list(document->members(findings), findings);
    if (const auto& refusal = findings.refusal)
        return about(refusal->code, refusal->path, refusal->why, refusal->hint);
    list.warnings = std::move(findings.warnings);
    return list;
}

}  // namespace ballast::plan
