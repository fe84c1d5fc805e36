#pragma once
// What makes the weights of two models the same thing.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ballast/engine/core/result.hpp"

namespace ballast::residency {

/// A file as it was at one time, and what of it is loaded how. Equal keys mean equal bytes in equal
/// places, whoever asks for them.
struct ModelKey {
    std::filesystem::path file{};
    std::uint64_t size = 0;
    std::int64_t modified = 0;  ///< in nanoseconds
    /// When the system last changed anything about it, and its number there: a file that is put in
    /// its place with the same size and time is another one all the same.
    std::int64_t changed = 0;
    std::uint64_t number = 0;
    std::string options{};  ///< the part of the file, and where it is wanted

    auto operator<=>(const ModelKey&) const = default;
};

/// Whether both are of one file at one time, whatever the options.
bool is_same_version(const ModelKey& one, const ModelKey& other);

/// The key of a file as it is now. Fails with `not_found`, or `io` if the system will not tell.
Result<ModelKey> model_key(const std::filesystem::path& file, std::string options);

/// Fails if the file is no longer the one that the key was made of: `not_found`, `io`, or
/// `corrupt_file` for one that was written since.
Result<void> require_unchanged(const ModelKey& key);

}  // namespace ballast::residency
