#include "ballast/engine/core/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include "ballast/engine/core/error.hpp"

namespace ballast {

std::string_view to_string(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::focus: return "focus";
        case LogLevel::warning: return "warning";
        case LogLevel::error: return "error";
    }
    return "error";
}

std::optional<LogLevel> parse_log_level(std::string_view name) {
    for (std::size_t i = 0; i < kLogLevels; ++i)
        if (const auto level = static_cast<LogLevel>(i); to_string(level) == name) return level;
    return std::nullopt;
}

struct Log::Shared {
    std::mutex mutex;
    std::vector<std::shared_ptr<LogSink>> sinks;
};

Log::Log(std::vector<std::shared_ptr<LogSink>> sinks) : shared_(std::make_shared<Shared>()) {
    shared_->sinks = std::move(sinks);
}

void Log::write(LogLevel level, std::string_view line) const {
    if (!shared_) return;
    const auto safe = escaped(line);
    const std::scoped_lock lock(shared_->mutex);
    for (const auto& sink : shared_->sinks) sink->write(level, safe);
}

void CollectingSink::write(LogLevel level, std::string_view line) {
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(level, line);
}

std::vector<std::string> CollectingSink::lines(LogLevel least) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (const auto& [level, line] : lines_)
        if (level >= least) found.push_back(line);
    return found;
}

namespace {

class StderrSink final : public LogSink {
public:
    explicit StderrSink(LogLevel least) : least_(least) {
        // the library has no level of ours between two of its own, so the name comes as the
        // logger's
        sink_.set_pattern("%^%n%$: %v");
    }

    void write(LogLevel level, std::string_view line) override {
        if (level < least_) return;
        const auto name = to_string(level);
        sink_.log({spdlog::string_view_t(name.data(), name.size()), to_spdlog(level),
                   spdlog::string_view_t(line.data(), line.size())});
        sink_.flush();
    }

private:
    static spdlog::level::level_enum to_spdlog(LogLevel level) {
        switch (level) {
            case LogLevel::debug: return spdlog::level::debug;
            case LogLevel::info:
            case LogLevel::focus: return spdlog::level::info;
            case LogLevel::warning: return spdlog::level::warn;
            case LogLevel::error: return spdlog::level::err;
        }
        return spdlog::level::err;
    }

    LogLevel least_;
    spdlog::sinks::stderr_color_sink_mt sink_;
};

}  // namespace

std::shared_ptr<LogSink> stderr_sink(LogLevel least) { return std::make_shared<StderrSink>(least); }

}  // namespace ballast
