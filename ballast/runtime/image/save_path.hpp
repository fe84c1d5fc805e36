#pragma once
// Where a saved picture goes: prefix tokens, sub-folders, the counter.

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast::runtime::image {

/// The place of one batch of pictures.
struct SavePlace {
    std::filesystem::path folder;
    std::string subfolder;     ///< of `folder` below the output folder, '/' between parts
    std::string name;          ///< last part of the prefix; may hold %batch_num%
    std::int64_t counter = 1;  ///< of the first picture
};

struct SaveRequest {
    std::filesystem::path root;  ///< the output (or temp) folder
    std::string_view prefix;     ///< as the node got it, e.g. "shapes/%year%/red"
    std::int64_t width = 0;      ///< of the first picture
    std::int64_t height = 0;
    std::tm local_time{};
};

/// Replaces %width%, %height%, %year%, %month%, %day%, %hour%, %minute% and %second%, makes the
/// folder and finds the counter: one more than the largest number of a file there whose name begins
/// with the prefix and an underscore. Fails with `bad_value` when the prefix leads out of the
/// output folder, with `io` when the folder cannot be made or read.
Result<SavePlace> save_place(const SaveRequest& request);

/// Writes picture `index` (from 0) of the batch to `<name>_00001_.png`, with %batch_num% replaced,
/// and returns that path. The counter passes over files that exist, those that others write at this
/// moment among them, so nothing is overwritten. Fails as `write_new_file` does, and with `io` when
/// no number is free.
Result<std::filesystem::path> save_next(SavePlace& place, std::int64_t index,
                                        std::string_view bytes);

}  // namespace ballast::runtime::image
