#pragma once
// Ctrl-C. The first one asks the run to stop at the next layer, the second ends the process.
//
// Signals belong to the process, so this is the one place of the program with state of that reach.

namespace ballast::cli {

/// While it lives, SIGINT and SIGTERM are requests instead of deaths. At most one at a time.
class InterruptScope {
public:
    InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
    ~InterruptScope();

    /// True once the user asked for the end. From any thread.
    [[nodiscard]] static bool is_requested();
};

}  // namespace ballast::cli
