#include "ballast/engine/core/json_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/setting_values.hpp"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written

/// A level as Python's logging knows it.
struct PythonLevel {
    LogLevel level;
    std::string_view name;
    std::string_view number;
};
constexpr std::array<PythonLevel, kLogLevels> kPythonLevels{{
    {LogLevel::debug, "DEBUG", "10"},
    {LogLevel::info, "INFO", "20"},
    {LogLevel::focus, "FOCUS", "25"},
    {LogLevel::warning, "WARNING", "30"},
    {LogLevel::error, "ERROR", "40"},
}};

LogLevel level_of(std::string_view text) {
    for (const auto& known : kPythonLevels)
        if (text == known.number || lower(text) == lower(known.name)) return known.level;
    return LogLevel::focus;
}

/// The object that `text` is, or an empty one. What is nested deeper than any field counts as none:
/// the JSON library writes it with one call inside the other.
Json object_of(std::string_view text) {
    constexpr int kDeepest = 64;
    bool is_too_deep = false;
    const auto watch = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
        is_too_deep = is_too_deep || depth > kDeepest;
        return !is_too_deep;
    };
    auto value = Json::parse(text, watch, /*allow_exceptions=*/false);
    if (is_too_deep || !value.is_object()) return Json::object();
    return value;
}

/// "[EVICTION] Device ..." -> "EVICTION".
std::optional<std::string_view> event_category(std::string_view message) {
    if (!message.starts_with('[')) return std::nullopt;
    const auto end = message.find(']');
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    return message.substr(1, end - 1);
}

/// A file that grows line by line as far as it can. One thread at a time.
class LineFile {
public:
    explicit LineFile(const JsonLogOptions& options)
        // O_NONBLOCK: nobody waits for who reads a pipe; files know no such waiting
        : file_(::open(options.path.c_str(),
                       O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC |
                           (options.starts_empty ? O_TRUNC : 0),
                       0666)) {}
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;
    ~LineFile() {
        if (file_ >= 0) ::close(file_);
    }

    void append(std::string line) {
        if (file_ < 0) return;
        // one call per line, so that several programs can share the file
        line += '\n';
        if (is_torn_) line.insert(0, 1, '\n');
        std::size_t done = 0;
        while (done < line.size()) {
            const auto written = ::write(file_, line.data() + done, line.size() - done);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) break;
            done += static_cast<std::size_t>(written);
        }
        if (done != 0) is_torn_ = done < line.size();
    }

private:
    int file_;
    bool is_torn_ = false;  ///< the last line stands there without its end
};

class JsonSink final : public LogSink {
public:
    JsonSink(const JsonLogOptions& options, const WallClock& clock)
        : options_(options),
          static_fields_(object_of(options.static_fields)),
          clock_(&clock),
          file_(options) {}

    void write(LogLevel level, std::string_view line) override {
        if (level < options_.least) return;
        const std::scoped_lock lock(mutex_);  // also orders the times
        file_.append(text_of(level, line));
    }

private:
    [[nodiscard]] std::string text_of(LogLevel level, std::string_view message) const {
        Json line{{"timestamp", utc_text(clock_->utc(), SecondDigits::microseconds)},
                  {"level", kPythonLevels.at(static_cast<std::size_t>(level)).name},
                  {"name", "MultiGPU"},
                  {"message", message}};
        if (const auto category = event_category(message)) line["event_category"] = *category;
        if (message.starts_with(kModelManagementPrefix)) line["component"] = "model_management";
        if (!options_.workflow.empty()) line["workflow_id"] = options_.workflow;
        if (!options_.prompt.empty()) line["prompt_id"] = options_.prompt;
        for (const auto& [key, value] : static_fields_.items()) line[key] = value;
        return line.dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    JsonLogOptions options_;
    Json static_fields_;
    const WallClock* clock_;
    std::mutex mutex_;
    LineFile file_;
};

}  // namespace

std::optional<JsonLogOptions> json_log_options(
    const std::function<std::optional<std::string>(const char*)>& environment) {
    const auto text = [&](const char* name) { return environment(name).value_or(""); };
    JsonLogOptions options{.path = text("MGPU_JSON_LOG_PATH")};
    if (options.path.empty()) return std::nullopt;
    const auto overwrite = text("MGPU_JSON_OVERWRITE");
    if (const auto flag = trimmed(overwrite); !flag.empty())
        options.starts_empty = parse_flag(flag).value_or(options.starts_empty);
    options.least = level_of(trimmed(text("MGPU_JSON_MIN_LEVEL")));
    options.workflow = text("MGPU_JSON_WORKFLOW");
    options.prompt = text("MGPU_JSON_PROMPT");
    options.static_fields = text("MGPU_JSON_STATIC_FIELDS");
    return options;
}

std::shared_ptr<LogSink> json_log_sink(const JsonLogOptions& options, const WallClock& clock) {
    return std::make_shared<JsonSink>(options, clock);
}

}  // namespace ballast
