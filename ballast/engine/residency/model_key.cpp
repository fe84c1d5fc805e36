#include "ballast/engine/residency/model_key.hpp"

#include <system_error>
#include <utility>

namespace ballast::residency {

Result<ModelKey> model_key(const std::filesystem::path& file, std::string options) {
    std::error_code refused;
    ModelKey key{.file = file, .options = std::move(options)};
    key.size = std::filesystem::file_size(file, refused);
    if (!refused)
        key.modified = std::filesystem::last_write_time(file, refused).time_since_epoch().count();
    if (!refused) return key;
    const bool is_missing = refused == std::errc::no_such_file_or_directory;
    return fail(Error{.code = is_missing ? Code::not_found : Code::io,
                      .what = "cannot load the model",
                      .why = is_missing ? "the file is not there (any more)" : refused.message(),
                      .place = {.file = file.string()},
                      .hint = is_missing ? "put it back, or choose another model" : ""});
}

Result<void> require_unchanged(const ModelKey& key) {
    const auto now = model_key(key.file, key.options);
    if (!now) return fail(now.error());
    if (*now == key) return {};
    return fail(Error{.code = Code::corrupt_file,
                      .what = "cannot load the model",
                      .why = "the file was written to since its header was read",
                      .place = {.file = key.file.string()},
                      .hint = "run the workflow again: it then reads the file as it is now"});
}

}  // namespace ballast::residency
