#include "ballast/graph/folders.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <system_error>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/graph/near_names.hpp"

namespace ballast::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 8> kModelEndings{".ckpt", ".pt",          ".pt2", ".bin",
                                                        ".pth",  ".safetensors", ".pkl", ".sft"};

constexpr std::array<std::string_view, 17> kPictureEndings{
    ".png", ".jpg", ".jpeg", ".jpe", ".webp", ".gif", ".bmp",  ".tif", ".tiff",
    ".ppm", ".pgm", ".pbm",  ".pnm", ".ico",  ".svg", ".avif", ".heic"};

/// Of the files that are there, so many are named.
constexpr std::size_t kListed = 10;

/// Types whose files lie in more than one folder of a root, or in one of another name.
std::vector<std::string_view> folder_names(std::string_view type) {
    if (type == "text_encoders" || type == "clip") return {"text_encoders", "clip"};
    if (type == "diffusion_models" || type == "unet") return {"unet", "diffusion_models"};
    if (type == "controlnet") return {"controlnet", "t2i_adapter"};
    return {type};
}

bool has_ending(const fs::path& name, std::span<const std::string_view> endings) {
    const auto ending = lower(name.extension().string());
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// True if walking `name` down from a folder stays below it.
bool stays_inside(const fs::path& name) {
    // the system would stop reading at a zero character
    if (name.native().find('\0') != std::string::npos) return false;
    if (name.empty() || name.is_absolute() || name.has_root_name()) return false;
    return std::none_of(name.begin(), name.end(),
                        [](const fs::path& part) { return part == ".."; });
}

/// Collects model files below a folder. Links to folders are followed, since users keep models on
/// other disks; a folder that contains itself through a link is entered once.
class Walk {
public:
    explicit Walk(std::set<std::string>& names) : names_(names) {}

    void into(const fs::path& folder, const std::string& prefix) {
        std::error_code failed;
        const fs::path real = fs::canonical(folder, failed);
        if (failed || !open_.insert(real).second) return;
        for (fs::directory_iterator at(folder, failed), end; !failed && at != end;
             at.increment(failed)) {
            const std::string name = at->path().filename().string();
            std::error_code unknown;
            if (at->is_directory(unknown)) {
                if (name != ".git") into(at->path(), prefix + name + "/");
            } else if (has_ending(name, kModelEndings) && at->is_regular_file(unknown)) {
                names_.insert(prefix + name);
            }
        }
        open_.erase(real);
    }

private:
    std::set<std::string>& names_;
    std::set<fs::path> open_;  ///< folders between the first one and here
};

bool is_file(const fs::path& path) {
    std::error_code failed;
    return fs::is_regular_file(path, failed);
}

/// At the top level, sorted.
std::vector<std::string> pictures_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
        if (is_file(at->path()) && has_ending(at->path(), kPictureEndings))
            names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Error leaves_folder(std::string_view name) {
    return {
        .code = Code::bad_value,
        .what = "cannot open the file",
        .why = "the name leads out of its folder",
        .place = {.file = escaped(name)},
        .hint = "name a file inside the folder: no leading slash, no \"..\", no zero character"};
}

/// What stands at `path` although it is no file; empty if nothing does.
std::string other_thing(const fs::path& path) {
    std::error_code failed;
    const auto own = fs::symlink_status(path, failed);
    if (!fs::exists(own)) return {};
    const auto meant = fs::status(path, failed);
    if (failed == std::errc::too_many_symbolic_link_levels)
        return "a link that leads back to itself";
    switch (meant.type()) {
        case fs::file_type::not_found:
            return "a link to " + fs::read_symlink(path, failed).string() + ", which is not there";
        case fs::file_type::directory: return "a folder";
        case fs::file_type::fifo: return "a pipe";
        case fs::file_type::socket: return "a socket";
        case fs::file_type::block:
        case fs::file_type::character: return "a device";
        default: return "a thing that cannot be looked at";
    }
}

Error no_file(std::string what, const fs::path& path, const std::string& thing) {
    return {.code = Code::not_found,
            .what = std::move(what),
            .why = "it is no regular file but " + thing,
            .place = {.file = path.string()},
            .hint = "put the file itself there, or a link to it"};
}

Error not_found(std::string what, std::string_view name, std::span<const std::string> present,
                std::span<const fs::path> searched) {
    Error error{.code = Code::not_found,
                .what = std::move(what),
                .why = "no such file",
                .place = {.file = std::string{name}}};
    std::vector<std::string> folders;
    for (const auto& folder : searched) folders.push_back(folder.string());
    error.why += folders.empty() ? ", and no folder to search" : " in " + joined(folders);
    if (const auto near = near_names(name, present); !near.empty())
        error.hint = "similar names: " + joined(near);
    else if (present.empty())
        error.hint = "these folders hold no such files";
    else
        error.hint = "present: " + joined(present.first(std::min(present.size(), kListed)));
    return error;
}

}  // namespace

std::vector<fs::path> Folders::searched(std::string_view type) const {
    std::vector<fs::path> folders;
    for (const auto& root : paths_.model_roots)
        for (const auto name : folder_names(type)) folders.push_back(root / name);
    return folders;
}

std::vector<std::string> Folders::models(std::string_view type) const {
    std::set<std::string> names;
    for (const auto& folder : searched(type)) Walk(names).into(folder, "");
    return {names.begin(), names.end()};
}

Result<fs::path> Folders::model_path(std::string_view type, std::string_view name) const {
    if (!stays_inside(name)) return fail(leaves_folder(name));
    std::optional<Error> other;
    for (const auto& folder : searched(type)) {
        const fs::path path = folder / name;
        if (is_file(path)) return path;
        if (const auto thing = other_thing(path); !thing.empty() && !other)
            other = no_file("cannot open the model", path, thing);
    }
    if (other) return fail(*std::move(other));
    return fail(model_not_found(*this, type, name));
}

std::vector<std::string> Folders::input_pictures() const { return pictures_in(paths_.input); }

Result<fs::path> Folders::picture_path(std::string_view name) const {
    fs::path folder = paths_.input;
    const auto chooses = [&](std::string_view ending, const fs::path& chosen) {
        if (!name.ends_with(ending)) return;
        name.remove_suffix(ending.size());
        if (name.ends_with(' ')) name.remove_suffix(1);
        folder = chosen;
    };
    if (name.ends_with("[input]"))
        chooses("[input]", paths_.input);
    else if (name.ends_with("[output]"))
        chooses("[output]", paths_.output);
    else
        chooses("[temp]", paths_.temp);
    if (!stays_inside(name)) return fail(leaves_folder(name));
    const fs::path path = folder / name;
    if (is_file(path)) return path;
    if (const auto thing = other_thing(path); !thing.empty())
        return fail(no_file("cannot open the picture", path, thing));
    return fail(not_found("cannot find the picture", name, pictures_in(folder), {{folder}}));
}

Error model_not_found(const Folders& folders, std::string_view type, std::string_view name) {
    return not_found("cannot find the model", name, folders.models(type), folders.searched(type));
}

}  // namespace ballast::graph
