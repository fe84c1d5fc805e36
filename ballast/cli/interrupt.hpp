#pragma once
// Ctrl-C. The first one asks the run to stop at the next layer, the second ends the process.
//
// Signals belong to the process, so this is the one place of the program with state of that reach.

#include <memory>

namespace ballast::cli {

/// While it lives, SIGINT and SIGTERM are requests instead of deaths. One that the process was
/// started to ignore (nohup, background jobs of a shell) stays ignored; afterwards both are what
/// they were before. At most one at a time.
class InterruptScope {
public:
    InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
    ~InterruptScope();

    /// True once the user asked for the end. From any thread.
    [[nodiscard]] static bool is_requested();

private:
    struct Former;
    std::unique_ptr<Former> former_;
};

}  // namespace ballast::cli
