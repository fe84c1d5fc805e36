#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace ballast::testing {
namespace {

/// A program that says nothing for so long hangs; it is killed, and its status tells so.
constexpr int kPatience_ms = 120'000;

struct Pipe {
    int read = -1;
    int write = -1;
};

Pipe new_pipe() {
    std::array<int, 2> ends{-1, -1};
    (void)::pipe2(ends.data(), O_CLOEXEC);
    return {ends[0], ends[1]};
}

Pipe new_terminal() {
    Pipe terminal;
    const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    ::openpty(&terminal.read, &terminal.write, nullptr, nullptr, &size);
    for (const int end : {terminal.read, terminal.write}) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    return terminal;
}

Pipe new_error_stream(ErrorStream kind) {
    switch (kind) {
        case ErrorStream::terminal: return new_terminal();
        case ErrorStream::full_disk: return {-1, ::open("/dev/full", O_WRONLY | O_CLOEXEC)};
        case ErrorStream::pipe: break;
    }
    return new_pipe();
}

[[noreturn]] void become_program(const std::vector<std::string>& arguments, const Pipe& out,
                                 const Pipe& err, const ProgramOptions& options) {
    ::dup2(::open(options.standard_input.c_str(), O_RDONLY), STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(err.write, STDERR_FILENO);
    ::close(out.read);
    ::close(err.read);
    ::setenv("TERM", "xterm", 1);
    if (options.ignores_interrupts) ::signal(SIGINT, SIG_IGN);
    if (options.most_file_bytes != 0) {
        const rlimit limit{options.most_file_bytes, options.most_file_bytes};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::signal(SIGXFSZ, SIG_DFL);
    }
    if (options.most_address_space != 0) {
        const rlimit limit{options.most_address_space, options.most_address_space};
        ::setrlimit(RLIMIT_AS, &limit);
    }
    // a developer's own settings are no part of the test
    std::vector<std::string> ours;
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (std::string_view(*variable).starts_with("BALLAST_"))
            ours.emplace_back(*variable, std::string_view(*variable).find('='));
    for (const auto& name : ours) ::unsetenv(name.c_str());
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<std::string> words{BALLAST_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(BALLAST_PROGRAM, pointers.data());
    ::_exit(127);
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
    const auto out = new_pipe();
    const auto err = new_error_stream(options.error_stream);
    const pid_t process = ::fork();
    if (process == 0) become_program(arguments, out, err, options);
    ::close(out.write);
    ::close(err.write);

    Outcome outcome;
    bool is_seen = options.wait_for.empty();
    std::array<pollfd, 2> watched{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
    int open = err.read < 0 ? 1 : 2;
    while (open > 0) {
        if (::poll(watched.data(), watched.size(), kPatience_ms) == 0) ::kill(process, SIGKILL);
        for (std::size_t i = 0; i < watched.size(); ++i) {
            if (watched[i].fd < 0 || watched[i].revents == 0) continue;
            std::array<char, 65536> buffer{};
            const auto got = ::read(watched[i].fd, buffer.data(), buffer.size());
            if (got <= 0) {
                ::close(watched[i].fd);
                watched[i].fd = -1;
                --open;
                continue;
            }
            (i == 0 ? outcome.out : outcome.err)
                .append(buffer.data(), static_cast<std::size_t>(got));
        }
        if (!is_seen && outcome.err.find(options.wait_for) != std::string::npos) {
            is_seen = true;
            options.when_seen(process);
        }
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

std::filesystem::path in_repository(const std::string& path) {
    return std::filesystem::path(BALLAST_SOURCE_DIR) / path;
}

std::vector<std::string> demo(const std::filesystem::path& output, std::vector<std::string> more) {
    std::vector<std::string> words{"run",      in_repository("data/demo/workflow.json").string(),
                                   "--models", in_repository("data/demo/models").string(),
                                   "--output", output.string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace ballast::testing
