// How long commands take that do not compute, as a user meets them: from starting the process to
// its end. Promised: under 30 ms each, since none of them loads libtorch.
//
// Usage: bench_cli_startup [--json]

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/support/report.hpp"
#include "benchmarks/support/timing.hpp"

namespace {

constexpr int kRuns = 25;
constexpr double kPromised_ms = 30;

/// The exit status, or -1.
int run(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{BALLAST_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    int status = -1;
    if (::posix_spawn(&process, BALLAST_PROGRAM, &actions, nullptr, pointers.data(), environ) == 0)
        ::waitpid(process, &status, 0);
    ::posix_spawn_file_actions_destroy(&actions);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace ballast::benchmarks;
    const std::string data = BALLAST_SOURCE_DIR "/data/demo/";
    const std::vector<std::pair<std::string, std::vector<std::string>>> commands{
        {"help", {"--help"}},
        {"version", {"--version"}},
        {"inspect", {"inspect", data + "models/checkpoints/ballast-demo.safetensors"}},
        {"dry_run", {"run", data + "workflow.json", "--models", data + "models", "--dry-run"}}};
    std::vector<Row> rows;
    for (const auto& [name, words] : commands) {
        if (const int status = run(words); status != 0) {
            std::fprintf(stderr, "error: %s ended with status %d\n", name.c_str(), status);
            return 1;
        }
        const auto samples = time_runs(kRuns, [&words] { run(words); });
        rows.push_back({.name = "cli.start_" + name,
                        .figure = 1000 * samples.median(),
                        .unit = "ms",
                        .bound = kPromised_ms,
                        .meaning = "promised"});
    }
    print_report(rows, output_asked_for(argc, argv));
    return 0;
}
