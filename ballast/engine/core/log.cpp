#include "ballast/engine/core/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include "ballast/engine/core/error.hpp"

namespace ballast {

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
    explicit StderrSink(LogLevel least) : least_(least) { sink_.set_pattern("%^%l%$: %v"); }

    void write(LogLevel level, std::string_view line) override {
        if (level < least_) return;
        sink_.log({"", to_spdlog(level), spdlog::string_view_t(line.data(), line.size())});
        sink_.flush();
    }

private:
    static spdlog::level::level_enum to_spdlog(LogLevel level) {
        switch (level) {
            case LogLevel::debug: return spdlog::level::debug;
            case LogLevel::info: return spdlog::level::info;
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
