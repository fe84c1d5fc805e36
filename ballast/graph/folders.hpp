#pragma once
// Where a workflow's files lie: models by folder type, input pictures, outputs. Listings are taken
// from the disk at each call, so a file that was added a moment ago is there.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/result.hpp"

namespace ballast::graph {

/// Folders on disk and what the original calls them. Cheap to copy; any thread.
class Folders {
public:
    struct Paths {
        std::vector<std::filesystem::path> model_roots =
            {};  ///< each laid out like ComfyUI's `models`
        std::filesystem::path input = {};
        std::filesystem::path output = {};
        std::filesystem::path temp = {};
    };
    explicit Folders(Paths paths) : paths_(std::move(paths)) {}

    [[nodiscard]] const Paths& paths() const { return paths_; }

    /// Directories that are searched for files of a type, existing or not, in order of precedence.
    /// The older names `unet` and `clip` mean `diffusion_models` and `text_encoders`; an unknown
    /// type has one folder of its own name per root.
    [[nodiscard]] std::vector<std::filesystem::path> searched(std::string_view type) const;

    /// Model files of a type, regular files and links to such: paths below the searched folders
    /// with '/' between parts, sorted, without repetition. Folders that do not exist or cannot be
    /// read count as empty.
    [[nodiscard]] std::vector<std::string> models(std::string_view type) const;

    /// The file behind a name of `models(type)`. Fails with `not_found`, naming similar files and
    /// the folders searched, or saying what stands there that is no file (a pipe, a link that leads
    /// nowhere), or with `bad_value` when the name leaves these folders.
    [[nodiscard]] Result<std::filesystem::path> model_path(std::string_view type,
                                                           std::string_view name) const;

    /// Files with the ending of a picture at the top level of the input folder, sorted.
    [[nodiscard]] std::vector<std::string> input_pictures() const;

    /// The file that a picture input names. The endings " [input]", " [output]" and " [temp]"
    /// choose the folder; without one it is the input folder. Fails as `model_path`.
    [[nodiscard]] Result<std::filesystem::path> picture_path(std::string_view name) const;

private:
    Paths paths_;
};

/// "cannot find X; similar: ...; searched: ...": for names that `models(type)` does not have.
Error model_not_found(const Folders& folders, std::string_view type, std::string_view name);

}  // namespace ballast::graph
