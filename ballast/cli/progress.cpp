#include "ballast/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ballast/cli/console.hpp"
#include "ballast/cli/interrupt.hpp"

namespace ballast::cli {
namespace {

using namespace std::chrono_literals;

/// Redrawing more often than an eye can follow costs time, lines more often than this a log.
constexpr Nanoseconds kBetweenDrawings = 50ms;
constexpr Nanoseconds kBetweenLines = 2s;
constexpr std::size_t kBarWidth = 24;

constexpr std::string_view kEraseRest = "\x1b[K";
constexpr std::string_view kEraseLine = "\r\x1b[K";

/// Lets lines of a log begin at the first column although a bar may stand there. The bar comes back
/// with its next step.
class AboveTheBar final : public LogSink {
public:
    explicit AboveTheBar(std::shared_ptr<LogSink> inner, LogLevel least)
        : inner_(std::move(inner)), least_(least) {}

    void write(LogLevel level, std::string_view line) override {
        if (level >= least_) write_to_stderr(kEraseLine);
        inner_->write(level, line);
    }

private:
    std::shared_ptr<LogSink> inner_;
    LogLevel least_;
};

std::size_t terminal_columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

std::string name_of(const graph::ValidNode& node) {
    return escaped(fmt::format("{} {}", node.id, node.declaration->class_type));
}

/// At most `columns` bytes of `text`, no character torn apart.
std::string cut(std::string text, std::size_t columns) {
    if (text.size() <= columns) return text;
    const auto is_continuation = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    };
    while (columns > 0 && is_continuation(text[columns])) --columns;
    text.resize(columns);
    return text;
}

std::string rate_text(const NodeProgress& progress) {
    if (!progress.seconds_per_step) return {};
    return fmt::format("{:.2f} s/step", *progress.seconds_per_step);
}

std::string memory_text(const NodeProgress& progress) {
    return fmt::format("{} (peak {})", to_string(progress.memory_now),
                       to_string(progress.memory_peak));
}

}  // namespace

ProgressStyle progress_style_of_stderr() {
    const char* terminal = std::getenv("TERM");
    const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
    return ::isatty(STDERR_FILENO) == 1 && !is_dumb ? ProgressStyle::bar : ProgressStyle::lines;
}

std::shared_ptr<LogSink> log_beside_progress(LogLevel least) {
    auto sink = stderr_sink(least);
    if (progress_style_of_stderr() != ProgressStyle::bar) return sink;
    return std::make_shared<AboveTheBar>(std::move(sink), least);
}

std::string bar_text(const NodeProgress& progress, std::size_t columns) {
    const auto max = std::max<std::int64_t>(progress.max, 1);
    const auto done = std::clamp<std::int64_t>(progress.value, 0, max);
    const auto filled = static_cast<std::size_t>(
        static_cast<double>(kBarWidth) * static_cast<double>(done) / static_cast<double>(max));
    auto text = fmt::format("{}  [{:.<{}}]  {}/{}", progress.node, std::string(filled, '#'),
                            kBarWidth, progress.value, progress.max);
    if (const auto rate = rate_text(progress); !rate.empty()) text += "  " + rate;
    text += "  " + memory_text(progress);
    return cut(std::move(text), columns);
}

std::string line_text(const NodeProgress& progress) {
    auto text = fmt::format("{}: step {} of {}", progress.node, progress.value, progress.max);
    if (const auto rate = rate_text(progress); !rate.empty()) text += ", " + rate;
    return text + ", memory " + memory_text(progress);
}

Progress::Progress(ProgressStyle style, const Clock& clock,
                   std::function<device::LedgerSnapshot()> memory)
    : style_(style), clock_(&clock), memory_(std::move(memory)) {}

Progress::~Progress() { end(); }

void Progress::draw(const std::string& line) {
    // \r to the first column, then the line, then erase what an older line left behind it
    write_to_stderr(fmt::format("\r{}{}", line, kEraseRest));
    is_drawn_ = true;
    last_output_ = clock_->now();
}

void Progress::print_line(const std::string& line) {
    end();
    write_to_stderr(line + "\n");
    last_output_ = clock_->now();
}

void Progress::end() {
    if (is_drawn_) write_to_stderr(kEraseLine);
    is_drawn_ = false;
}

void Progress::node_started(const graph::ValidNode& node) {
    first_step_.reset();
    if (style_ == ProgressStyle::bar) draw(cut(name_of(node), terminal_columns() - 1));
    if (style_ == ProgressStyle::lines) print_line(name_of(node));
}

void Progress::node_progress(const graph::ValidNode& node, std::int64_t value, std::int64_t max) {
    if (style_ == ProgressStyle::silent) return;
    const auto now = clock_->now();
    if (!first_step_) {
        first_step_ = now;
        first_value_ = value;
    }
    const bool is_last = value >= max;
    const auto pause = style_ == ProgressStyle::bar ? kBetweenDrawings : kBetweenLines;
    if (!is_last && last_output_ && now - *last_output_ < pause) return;

    NodeProgress progress{.node = name_of(node),
                          .value = value,
                          .max = max,
                          .seconds_per_step = {},
                          .memory_now = {},
                          .memory_peak = {}};
    // the first step also pays for what is made once, so it says nothing about the others
    if (value > first_value_)
        progress.seconds_per_step = std::chrono::duration<double>(now - *first_step_).count() /
                                    static_cast<double>(value - first_value_);
    for (const auto& [device, use] : memory_()) {
        progress.memory_now += use.now;
        progress.memory_peak += use.peak;
    }
    if (style_ == ProgressStyle::lines)
        print_line(line_text(progress));
    else if (is_last)
        print_line(bar_text(progress, terminal_columns() - 1));  // it stays as a record
    else
        draw(bar_text(progress, terminal_columns() - 1));
}

void Progress::node_finished(const graph::ValidNode& /*node*/) { end(); }

void Progress::warning(const graph::ValidNode& node, const std::string& text) {
    auto line = fmt::format("node {}: {}", node.id, text);
    if (std::ranges::count(warnings_, line) != 0) return;
    if (style_ != ProgressStyle::silent) print_line("warning: " + escaped(line));
    warnings_.push_back(std::move(line));
}

bool Progress::stop_requested() const { return InterruptScope::is_requested(); }

}  // namespace ballast::cli
