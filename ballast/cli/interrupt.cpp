#include "ballast/cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

namespace ballast::cli {
namespace {

constexpr int kInterruptedStatus = 130;
constexpr std::array kSignals{SIGINT, SIGTERM};

std::atomic<int> requests{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void complain(std::string_view text) {
    // the only output that is permitted here; nothing can be done about a failure
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int /*signal*/) {
    if (requests.fetch_add(1) == 0) {
        complain("\nstopping at the next layer; once more to stop at once\n");
        return;
    }
    complain("\n");
    ::_exit(kInterruptedStatus);
}

void install(void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptScope::InterruptScope() {
    requests = 0;
    install(on_signal);
}

InterruptScope::~InterruptScope() { install(SIG_DFL); }

bool InterruptScope::is_requested() { return requests.load() != 0; }

}  // namespace ballast::cli
