#include "ballast/runtime/image/save_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "ballast/engine/core/output_name.hpp"
#include "ballast/engine/core/write_file.hpp"

namespace ballast::runtime::image {

namespace fs = std::filesystem;

namespace {

void replace_all(std::string& text, std::string_view token, std::string_view value) {
    for (auto at = text.find(token); at != std::string::npos;
         at = text.find(token, at + value.size()))
        text.replace(at, token.size(), value);
}

std::string with_tokens(const SaveRequest& request) {
    const auto& time = request.local_time;
    const auto two = [](int value) { return fmt::format("{:02}", value); };
    const std::array<std::pair<std::string_view, std::string>, 8> tokens{{
        {"%width%", fmt::format("{}", request.width)},
        {"%height%", fmt::format("{}", request.height)},
        {"%year%", fmt::format("{}", time.tm_year + 1900)},
        {"%month%", two(time.tm_mon + 1)},
        {"%day%", two(time.tm_mday)},
        {"%hour%", two(time.tm_hour)},
        {"%minute%", two(time.tm_min)},
        {"%second%", two(time.tm_sec)},
    }};
    std::string prefix(request.prefix);
    for (const auto& [token, value] : tokens) replace_all(prefix, token, value);
    return prefix;
}

tl::unexpected<Error> refusal(Code code, std::string what, std::string why, std::string file,
                              std::string hint) {
    Error error;
    error.code = code;
    error.what = std::move(what);
    error.why = std::move(why);
    error.place.file = std::move(file);
    error.hint = std::move(hint);
    return fail(std::move(error));
}

/// The number between `prefix` and the next underscore of a file name; 0 if there is none, nothing
/// if the file belongs to another prefix.
std::optional<std::int64_t> number_of(std::string_view file, std::string_view prefix) {
    if (!file.starts_with(prefix) || !file.substr(prefix.size()).starts_with('_'))
        return std::nullopt;
    file.remove_prefix(prefix.size() + 1);
    const auto digits = file.substr(0, file.find('_'));
    std::int64_t number = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_whole = result.ec == std::errc{} && result.ptr == digits.data() + digits.size();
    constexpr std::int64_t kMost = 1'000'000'000'000'000;  // beyond it is no counter of ours
    return is_whole && number <= kMost ? number : 0;
}

/// Other writers take a few numbers at a time; this many mean that something else is wrong.
constexpr int kMostTries = 100'000;

}  // namespace

Result<SavePlace> save_place(const SaveRequest& request) {
    auto below = parse_output_name(with_tokens(request));
    if (!below) return fail(std::move(below).error());

    SavePlace place;
    place.name = std::move(below->name);
    place.subfolder = below->folder.generic_string();
    place.folder = request.root / below->folder;
    std::error_code fault;
    fs::create_directories(place.folder, fault);
    fs::directory_iterator entry;
    if (!fault) entry = fs::directory_iterator(place.folder, fault);
    std::int64_t largest = 0;
    for (; !fault && entry != fs::directory_iterator(); entry.increment(fault))
        if (const auto number = number_of(entry->path().filename().string(), place.name))
            largest = std::max(largest, *number);
    if (fault)
        return refusal(Code::io, "cannot use the output folder", fault.message(),
                       place.folder.string(), "choose an output folder that you may write to");
    place.counter = largest + 1;
    return place;
}

Result<fs::path> save_next(SavePlace& place, std::int64_t index, std::string_view bytes) {
    auto name = place.name;
    replace_all(name, "%batch_num%", fmt::format("{}", index));
    for (int tries = 0; tries < kMostTries; ++tries) {
        auto file = place.folder / fmt::format("{}_{:05}_.png", name, place.counter++);
        // asking first spares writing the whole picture for nothing; only the writing decides
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(file, ignored))) continue;
        const auto is_written = write_new_file(file, bytes, "picture");
        if (!is_written) return fail(is_written.error());
        if (*is_written) return file;
    }
    return refusal(Code::io, "cannot save the picture",
                   fmt::format("{} names in a row are taken", kMostTries), place.folder.string(),
                   "choose another output folder or prefix");
}

}  // namespace ballast::runtime::image
