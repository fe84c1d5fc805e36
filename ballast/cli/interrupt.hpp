#pragma once
// Ctrl-C. The first one asks the run to stop at the next layer, the second ends the process, but
// never in the midst of what it prints at the end.
//
// Signals belong to the process, so this is the one place of the program with state of that reach.

#include <memory>

namespace ballast::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP are requests instead of deaths. One that the process
/// was started to ignore (nohup, background jobs of a shell) stays ignored; afterwards all are what
/// they were before, unless the work ended. At most one at a time.
class InterruptScope {
public:
    InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
    ~InterruptScope();

    /// The work is done, or was stopped; only its results remain to be told, for which the process
    /// lives on: a signal does nothing, and only a second one from here on ends it.
    void work_ended();

    /// True once the user asked for the end. From any thread.
    [[nodiscard]] static bool is_requested();

private:
    struct Former;
    std::unique_ptr<Former> former_;
    bool has_ended_ = false;
};

}  // namespace ballast::cli
