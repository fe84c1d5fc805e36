#pragma once
// A model as a list of blocks in JSON, for planning without a file of weights:
//
//     {"blocks": [{"name": "B0", "bytes": 1073741824, "type": "Linear", "fetchable": true,
//                  "flops": 1000, "activation_bytes": 1000}],
//      "loose_bytes": 0, "file_backed": true}

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/plan/cost_model.hpp"

namespace ballast::plan {

struct BlockList {
    std::vector<PlanBlock> blocks{};  ///< the loose parameters last
    bool is_file_backed = true;
    std::vector<std::string> warnings{};
};

/// Reads a list; `name` stands for the text in errors. Names and sizes are needed, everything else
/// may be left out. Fails with `corrupt_file` (no JSON) or `bad_value` (a member of the wrong type,
/// a name twice: its path).
Result<BlockList> parse_blocks(std::string_view text, const std::filesystem::path& name);

}  // namespace ballast::plan
