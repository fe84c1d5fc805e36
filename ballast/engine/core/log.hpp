#pragma once
// The log: lines with a level, written to sinks that are passed in. There is no global logger.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// `focus` is ComfyUI-MultiGPU's: what its users follow memory by, above info and below warnings.
enum class LogLevel { debug, info, focus, warning, error };
inline constexpr std::size_t kLogLevels = 5;

/// "debug" and so on.
std::string_view to_string(LogLevel level);
/// The level of that name; nothing if there is none.
std::optional<LogLevel> parse_log_level(std::string_view name);

/// What lines about loading, freeing and watching memory begin with. They are written at `focus`.
inline constexpr std::string_view kModelManagementPrefix = "[MultiGPU Model Management] ";

/// Where lines go. `write` is called by one thread at a time per `Log`.
class LogSink {
public:
    LogSink() = default;
    LogSink(const LogSink&) = delete;
    LogSink& operator=(const LogSink&) = delete;
    virtual ~LogSink() = default;
    virtual void write(LogLevel level, std::string_view line) = 0;
};

/// Standard error, coloured on a terminal; lines below `least` are dropped.
std::shared_ptr<LogSink> stderr_sink(LogLevel least);

/// Keeps everything: for tests, and for the warnings of a report.
class CollectingSink final : public LogSink {
public:
    void write(LogLevel level, std::string_view line) override;
    [[nodiscard]] std::vector<std::string> lines(LogLevel least) const;

private:
    mutable std::mutex mutex_;
    std::vector<std::pair<LogLevel, std::string>> lines_;
};

/// A cheap, copyable, thread-safe handle on a set of sinks. A default-made log drops everything.
class Log {
public:
    Log() = default;
    explicit Log(std::vector<std::shared_ptr<LogSink>> sinks);

    void write(LogLevel level, std::string_view line) const;
    void debug(std::string_view line) const { write(LogLevel::debug, line); }
    void info(std::string_view line) const { write(LogLevel::info, line); }
    void focus(std::string_view line) const { write(LogLevel::focus, line); }
    void warning(std::string_view line) const { write(LogLevel::warning, line); }
    void error(std::string_view line) const { write(LogLevel::error, line); }

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace ballast
