#pragma once
// What a run shows while it works: on a terminal one line that is redrawn in place, a bar for
// everything that takes steps; elsewhere plain lines, not too many.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/log.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/graph/execution.hpp"

namespace ballast::cli {

enum class ProgressStyle { silent, lines, bar };

/// `bar` if standard error is a terminal that can move its cursor, else `lines`.
ProgressStyle progress_style_of_stderr();

/// A log on standard error that goes along with the progress shown there; lines below `least` are
/// dropped.
std::shared_ptr<LogSink> log_beside_progress(LogLevel least);

/// The state of one node at work, as text.
struct NodeProgress {
    std::string node;  ///< "3 KSampler"
    std::int64_t value = 0;
    std::int64_t max = 0;
    std::optional<double> seconds_per_step;
    Bytes memory_now;
    Bytes memory_peak;
};

/// "3 KSampler  [######......]  6/12  0.31 s/step  512.00 MiB (peak 640.00 MiB)", cut to `columns`.
std::string bar_text(const NodeProgress& progress, std::size_t columns);
/// "3 KSampler: step 6 of 12, 0.31 s/step, memory 512.00 MiB (peak 640.00 MiB)".
std::string line_text(const NodeProgress& progress);

/// Draws on standard error, collects warnings, and passes the user's wish to stop on.
class Progress final : public graph::RunObserver {
public:
    /// `memory` tells what devices hold now; both must outlive this.
    Progress(ProgressStyle style, const Clock& clock,
             std::function<device::LedgerSnapshot()> memory);
    ~Progress() override;

    void node_started(const graph::ValidNode& node) override;
    void node_progress(const graph::ValidNode& node, std::int64_t value, std::int64_t max) override;
    void node_finished(const graph::ValidNode& node) override;
    void warning(const graph::ValidNode& node, const std::string& text) override;
    [[nodiscard]] bool stop_requested() const override;

    /// One sentence each, without repetition.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

    /// Leaves the terminal as it was: nothing half drawn.
    void end();

private:
    void draw(const std::string& line);
    void print_line(const std::string& line);

    ProgressStyle style_;
    const Clock* clock_;
    std::function<device::LedgerSnapshot()> memory_;
    std::vector<std::string> warnings_;
    bool is_drawn_ = false;                  // the cursor stands behind a drawn line
    std::optional<Nanoseconds> first_step_;  // when the first step of this node was done
    std::int64_t first_value_ = 0;
    std::optional<Nanoseconds> last_output_;  // when something was shown last
};

}  // namespace ballast::cli
