#pragma once
// The log: lines with a level, written to sinks that are passed in. There is no global logger.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

enum class LogLevel { debug, info, warning, error };

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
    void warning(std::string_view line) const { write(LogLevel::warning, line); }
    void error(std::string_view line) const { write(LogLevel::error, line); }

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace ballast
