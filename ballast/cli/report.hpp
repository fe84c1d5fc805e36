#pragma once
// The figures of a run, for scripts and for people.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/graph/execution.hpp"
#include "ballast/graph/runtime.hpp"

namespace ballast::cli {

/// A picture that a run wrote.
struct Output {
    std::string node;
    std::filesystem::path path;
    std::string type;  ///< "output" or "temp"

    bool operator==(const Output&) const = default;
};

struct Seconds {
    double total = 0;
    double load = 0;
    double sample = 0;
    double decode = 0;
};

/// One pass over the workflow; --repeat makes several.
struct Pass {
    Seconds seconds;
    std::vector<std::string> executed;  ///< node ids
    std::vector<std::string> cached;
    std::optional<residency::FreeAnswer> freed{};  ///< what came back after it
};

struct Record {
    std::vector<Pass> passes;
    std::vector<Output> outputs;  ///< of all passes, each once
    graph::RuntimeReport runtime;
    std::optional<residency::MemoryStatus> memory;  ///< at the end
    std::string runtime_version;
    bool is_simulated = false;
    std::vector<std::string> warnings;
    std::optional<Error> error;

    [[nodiscard]] Seconds seconds() const;  ///< of all passes together
};

/// Adds the pictures that output nodes tell of. `ui` as `RunResult::ui`.
void add_outputs(std::vector<Output>& outputs,
                 const std::vector<std::pair<std::string, graph::Json>>& ui,
                 const graph::RuntimeOptions& folders);

/// The report: {"status", "outputs", "seconds", "devices", "models", "streaming", "cache", ...}.
Json to_json(const Record& record);

/// Paths, one a line, then seconds and memory.
std::string to_text(const Record& record);

}  // namespace ballast::cli
