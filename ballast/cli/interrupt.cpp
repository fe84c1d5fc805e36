#include "ballast/cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>

namespace ballast::cli {
namespace {

constexpr int kInterruptedStatus = 130;
constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<int> requests{0};
std::atomic<int> late_requests{0};  // since the work ended
std::atomic<bool> is_telling{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void complain(std::string_view text) {
    // the only output that is permitted here; nothing can be done about a failure
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int /*signal*/) {
    if (is_telling) {
        if (late_requests.fetch_add(1) > 0) ::_exit(kInterruptedStatus);
        return;
    }
    if (requests.fetch_add(1) == 0) {
        const int interrupted = errno;  // of whatever call this came in the midst of
        complain("\nstopping at the next layer; once more to stop at once\n");
        errno = interrupted;
        return;
    }
    complain("\n");
    ::_exit(kInterruptedStatus);
}

bool is_ignored(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

struct InterruptScope::Former {
    std::array<struct sigaction, kSignals.size()> actions{};
};

InterruptScope::InterruptScope() : former_(std::make_unique<Former>()) {
    requests = 0;
    late_requests = 0;
    is_telling = false;
    struct sigaction action{};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        auto& former = former_->actions[i];
        ::sigaction(kSignals[i], nullptr, &former);
        if (!is_ignored(former)) ::sigaction(kSignals[i], &action, nullptr);
    }
}

void InterruptScope::work_ended() {
    is_telling = true;
    has_ended_ = true;
}

InterruptScope::~InterruptScope() {
    if (has_ended_) return;  // the process is about to end with its own status
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        ::sigaction(kSignals[i], &former_->actions[i], nullptr);
}

bool InterruptScope::is_requested() { return requests.load() != 0; }

}  // namespace ballast::cli
