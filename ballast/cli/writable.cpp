#include "ballast/cli/writable.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "ballast/engine/core/system_error.hpp"

namespace ballast::cli {
namespace {

namespace fs = std::filesystem;

Error refused(const char* what, const fs::path& where, std::string why, std::string_view option) {
    return {.code = Code::io,
            .what = what,
            .why = std::move(why),
            .place = {.file = where.string()},
            .hint = fmt::format("choose another one with {}", option)};
}

constexpr auto kPictures = "cannot write pictures";

int access_fault(const fs::path& path, int mode) {
    return ::access(path.c_str(), mode) == 0 ? 0 : errno;
}

/// "it is a link to X, which is not there"; empty if `path` is no such link.
std::string dangling(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_symlink(fs::symlink_status(path, ignored)) || fs::exists(path, ignored)) return {};
    return fmt::format("it is a link to {}, which is not there",
                       fs::read_symlink(path, ignored).string());
}

/// `folder`, or what stands above it where that does not exist: the place in which it is made.
fs::path nearest_existing(fs::path folder) {
    std::error_code ignored;
    while (!folder.empty() && !fs::exists(fs::symlink_status(folder, ignored))) {
        auto above = folder.parent_path();
        if (above == folder) break;
        folder = std::move(above);
    }
    return folder.empty() ? fs::path(".") : folder;
}

/// `what` says what cannot be done, `option` names the file.
Result<void> require_file(const fs::path& file, const std::vector<fs::path>& inputs,
                          const char* what, std::string_view option) {
    std::error_code ignored;
    for (const auto& input : inputs)
        if (fs::equivalent(file, input, ignored)) {
            auto error = refused(what, file, "it would replace what the command reads", option);
            error.code = Code::usage;
            return fail(std::move(error));
        }
    const auto status = fs::status(file, ignored);
    int fault = 0;
    if (fs::is_directory(status)) {
        fault = EISDIR;
    } else if (fs::exists(status) && !fs::is_regular_file(status)) {
        fault = access_fault(file, W_OK);
    } else {
        const auto folder = file.parent_path();
        fault = access_fault(folder.empty() ? "." : folder, W_OK | X_OK);
    }
    if (fault != 0) return fail(refused(what, file, system_reason(fault), option));
    return {};
}

}  // namespace

std::vector<PictureFolder> picture_folders(const graph::ValidWorkflow& workflow,
                                           const graph::RuntimeOptions& options) {
    const auto has = [&](std::string_view class_type) {
        return std::ranges::any_of(workflow.outputs, [&](std::size_t output) {
            return workflow.nodes[output].declaration->class_type == class_type;
        });
    };
    std::vector<PictureFolder> folders;
    if (has("SaveImage")) folders.push_back({options.output_folder, "--output"});
    if (has("PreviewImage")) folders.push_back({options.temp_folder, "--temp-directory"});
    return folders;
}

Result<void> require_writable(const PictureFolder& folder) {
    const auto& [path, option] = folder;
    const auto there = nearest_existing(path.lexically_normal());
    if (auto why = dangling(there); !why.empty())
        return fail(refused(kPictures, there, std::move(why), option));
    std::error_code failed;
    const auto status = fs::status(there, failed);
    if (fs::exists(status) && !fs::is_directory(status))
        return fail(refused(kPictures, path, system_reason(ENOTDIR), option));
    const int fault = access_fault(there, W_OK | X_OK);
    if (fault != 0) return fail(refused(kPictures, path, system_reason(fault), option));
    return {};
}

Result<void> make_folder(const PictureFolder& folder) {
    std::error_code failed;
    fs::create_directories(folder.path, failed);
    if (failed) return fail(refused(kPictures, folder.path, failed.message(), folder.option));
    return {};
}

Result<void> require_report_file(const fs::path& file, const std::vector<fs::path>& inputs) {
    return require_file(file, inputs, "cannot write the report", "--report");
}

Result<void> require_chart_file(const fs::path& file, const std::vector<fs::path>& inputs) {
    return require_file(file, inputs, "cannot write the chart", "--chart");
}

}  // namespace ballast::cli
