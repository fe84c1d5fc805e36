// The command line program.

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "ballast/cli/arguments.hpp"
#include "ballast/cli/command.hpp"
#include "ballast/cli/console.hpp"

namespace {

int run_program(const std::vector<std::string>& arguments, ballast::cli::Console& console) {
    try {
        const auto invocation = ballast::cli::parse_arguments(arguments);
        if (!invocation) return console.fail(invocation.error());
        return invocation->command->run(*invocation, console);
    } catch (const std::bad_alloc&) {
        return console.fail({.code = ballast::Code::out_of_memory,
                             .what = "out of memory",
                             .why = "the system gave the program no more",
                             .hint = "close other programs, or lower the size or the batch"});
    } catch (const std::exception& fault) {
        return console.fail({.code = ballast::Code::internal,
                             .what = "internal error",
                             .why = fault.what(),
                             .hint = "please report it with the command line that led here"});
    }
}

}  // namespace

int main(int argc, char** argv) {
    // a reader that goes away (`ballast inspect ... | head`) ends writing, not the program
    std::signal(SIGPIPE, SIG_IGN);
    // a file that may not grow further (ulimit -f) fails to be written, and is then removed
    std::signal(SIGXFSZ, SIG_IGN);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    ballast::cli::Console console(ballast::cli::form_of(arguments));
    return console.finish(run_program(arguments, console));
}
