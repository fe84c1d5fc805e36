#include "ballast/cli/writable.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ballast/engine/core/system_error.hpp"

namespace ballast::cli {
namespace {

/// `fault` is 0 or an errno.
Result<void> verdict(int fault, const char* what, const std::filesystem::path& where,
                     const char* hint) {
    if (fault == 0) return {};
    return fail(Error{.code = Code::io,
                      .what = what,
                      .why = system_reason(fault),
                      .place = {.file = where.string()},
                      .hint = hint});
}

int access_fault(const std::filesystem::path& path, int mode) {
    return ::access(path.c_str(), mode) == 0 ? 0 : errno;
}

}  // namespace

Result<void> require_output_folder(const std::filesystem::path& folder) {
    std::error_code made;
    std::filesystem::create_directories(folder, made);
    int fault = made.value();
    if (fault == 0 && !std::filesystem::is_directory(folder, made)) fault = ENOTDIR;
    if (fault == 0) fault = access_fault(folder, W_OK | X_OK);
    return verdict(fault, "cannot write pictures", folder, "choose another folder with --output");
}

Result<void> require_report_file(const std::filesystem::path& file) {
    std::error_code ignored;
    const auto status = std::filesystem::status(file, ignored);
    int fault = 0;
    if (std::filesystem::is_directory(status)) {
        fault = EISDIR;
    } else if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        fault = access_fault(file, W_OK);
    } else {
        const auto folder = file.parent_path();
        fault = access_fault(folder.empty() ? "." : folder, W_OK | X_OK);
    }
    return verdict(fault, "cannot write the report", file, "choose another file with --report");
}

}  // namespace ballast::cli
