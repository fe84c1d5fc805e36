#include "ballast/engine/residency/model_key.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ballast::residency {
namespace {

std::int64_t nanoseconds(const ::timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

bool is_same_version(const ModelKey& one, const ModelKey& other) {
    return one.file == other.file && one.size == other.size && one.modified == other.modified &&
           one.changed == other.changed && one.number == other.number;
}

Result<ModelKey> model_key(const std::filesystem::path& file, std::string options) {
    struct ::stat found{};
    const bool is_there = ::stat(file.c_str(), &found) == 0;
    if (is_there && !S_ISREG(found.st_mode)) errno = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
    if (is_there && S_ISREG(found.st_mode))
        return ModelKey{.file = file,
                        .size = static_cast<std::uint64_t>(found.st_size),
                        .modified = nanoseconds(found.st_mtim),
                        .changed = nanoseconds(found.st_ctim),
                        .number = found.st_ino,
                        .options = std::move(options)};
    const std::error_code refused(errno, std::generic_category());
    const bool is_missing =
        refused == std::errc::no_such_file_or_directory || refused == std::errc::not_a_directory;
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
                      .why = "the file was changed or replaced since its header was read",
                      .place = {.file = key.file.string()},
                      .hint = "run the workflow again: it then reads the file as it is now"});
}

}  // namespace ballast::residency
