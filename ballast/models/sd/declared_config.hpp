#pragma once
// What a file says about itself in its metadata, as JSON, for the numbers that tensor shapes cannot
// tell: head counts and the groups of GroupNorm. Whatever it says beyond that is compared with the
// tensors.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/models/sd/config.hpp"

namespace ballast::models::sd {

/// One declared number or list of numbers, e.g. {"unet.channel_mult", {1, 2}}.
struct DeclaredNumbers {
    std::string key;
    std::vector<std::int64_t> values;
};

struct DeclaredConfig {
    /// Metadata entry that it came from; empty if the file has none.
    std::string source;
    std::optional<std::int64_t> unet_heads;
    std::optional<std::int64_t> clip_heads;
    std::optional<NormGroups> norm_groups;
    /// Everything else that has a counterpart in the tensors.
    std::vector<DeclaredNumbers> numbers;
};

/// Reads the entry `ballast.config`, or `tiny_config` if there is no such entry. Fails with
/// `corrupt_file` when it is not JSON, a member has the wrong type, or a number is out of range;
/// with `unsupported` when it declares another family. Unknown members are ignored.
Result<DeclaredConfig> declared_config(const formats::TensorDirectory& directory);

/// Fails with `corrupt_file` if `declared` contradicts `derived` in any key that both have.
Result<void> require_agreement(const formats::TensorDirectory& directory,
                               const DeclaredConfig& declared,
                               const std::vector<DeclaredNumbers>& derived);

}  // namespace ballast::models::sd
