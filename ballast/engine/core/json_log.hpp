#pragma once
// The log as a file of JSON lines, for machines to read: one object per line, with the keys that
// ComfyUI-MultiGPU's log has.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/log.hpp"

namespace ballast {

struct JsonLogOptions {
    std::filesystem::path path{};
    bool starts_empty = true;  ///< drops what an earlier program wrote, else goes on behind it
    LogLevel least = LogLevel::focus;
    std::string workflow{};       ///< told in every line, unless empty
    std::string prompt{};         ///< likewise
    std::string static_fields{};  ///< a JSON object; anything else counts for nothing
};

/// What the environment asks for: nothing unless MGPU_JSON_LOG_PATH is set. MGPU_JSON_OVERWRITE
/// starts with an empty file unless it is off (false, 0, no, off); MGPU_JSON_MIN_LEVEL is a name or
/// Python's number (10, 20, 25, 30, 40) of a level, all else means focus; MGPU_JSON_WORKFLOW,
/// MGPU_JSON_PROMPT, MGPU_JSON_STATIC_FIELDS go into the lines. What is set to nothing is not set.
std::optional<JsonLogOptions> json_log_options(
    const std::function<std::optional<std::string>(const char*)>& environment);

/// Appends each line, from the least level on, as an object of timestamp (UTC), level (by Python's
/// name), name ("MultiGPU") and message; with event_category where the message begins with
/// [something], component "model_management" where it begins with `kModelManagementPrefix`, and
/// workflow_id and prompt_id where they are known. The static fields come last and replace what has
/// their name. Broken UTF-8 is written as U+FFFD.
///
/// A log must not stop the work: lines that cannot be written are lost without a word, all of them
/// if the file cannot be opened now. Nothing waits for the reader of a pipe. What the system does
/// to programs that write beyond a limit or into a closed pipe (SIGXFSZ, SIGPIPE) is up to them.
/// Thread-safe also where several logs share it. `clock` must outlive it.
std::shared_ptr<LogSink> json_log_sink(const JsonLogOptions& options, const WallClock& clock);

}  // namespace ballast
