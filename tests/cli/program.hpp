#pragma once
// Runs the real program as a user would.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ballast::testing {

struct Outcome {
    int status = -1;  ///< exit status; 128 + signal when it died
    std::string out;
    std::string err;
};

/// Where the program's standard error leads.
enum class ErrorStream {
    pipe,
    terminal,   ///< one of 80 columns that can move its cursor
    full_disk,  ///< nothing can be written, and `Outcome::err` stays empty
};

struct ProgramOptions {
    /// Called with the process once `wait_for` has appeared on its standard error.
    std::function<void(int process)> when_seen = {};
    std::string wait_for = {};
    /// Largest file that the process may write, in bytes; 0: no limit. Stands for a full disk.
    unsigned long most_file_bytes = 0;
    /// Largest address space of the process, in bytes; 0: no limit.
    unsigned long most_address_space = 0;
    ErrorStream error_stream = ErrorStream::pipe;
    bool ignores_interrupts = false;  ///< started with SIGINT ignored, as by nohup
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< in addition
    std::filesystem::path standard_input = "/dev/null";
};

/// Runs `ballast` with these arguments.
Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

/// The repository's file.
std::filesystem::path in_repository(const std::string& path);

/// Arguments that run the demo workflow with pictures in `output`.
std::vector<std::string> demo(const std::filesystem::path& output,
                              std::vector<std::string> more = {});

}  // namespace ballast::testing
