#include "ballast/cli/writable.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ballast::cli {
namespace {

Result<void> verdict(std::error_code fault, const char* what, const std::filesystem::path& where,
                     const char* hint) {
    if (!fault) return {};
    return fail(Error{.code = Code::io,
                      .what = what,
                      .why = fault.message(),
                      .place = {.file = where.string()},
                      .hint = hint});
}

std::error_code access_fault(const std::filesystem::path& path, int mode) {
    if (::access(path.c_str(), mode) == 0) return {};
    return {errno, std::generic_category()};
}

}  // namespace

Result<void> require_output_folder(const std::filesystem::path& folder) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (!fault && !std::filesystem::is_directory(folder))
        fault = std::make_error_code(std::errc::not_a_directory);
    if (!fault) fault = access_fault(folder, W_OK | X_OK);
    return verdict(fault, "cannot write pictures", folder, "choose another folder with --output");
}

Result<void> require_report_file(const std::filesystem::path& file) {
    std::error_code fault;
    const auto status = std::filesystem::status(file, fault);
    if (std::filesystem::is_directory(status)) {
        fault = std::make_error_code(std::errc::is_a_directory);
    } else if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        fault = access_fault(file, W_OK);
    } else {
        const auto folder = file.parent_path();
        fault = access_fault(folder.empty() ? "." : folder, W_OK | X_OK);
    }
    return verdict(fault, "cannot write the report", file, "choose another file with --report");
}

}  // namespace ballast::cli
