#pragma once
// One run of the demo model, with its report and its picture.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {

struct DemoRun {
    Outcome outcome;
    nlohmann::json report;  ///< null where the run printed none
    std::string picture;    ///< the bytes of the file; empty where there is none
};

/// Runs `workflow` with --json and `more` after --models `models`. Pictures carry no workflow, so
/// that equal ones are equal files.
inline DemoRun run_demo(const std::filesystem::path& workflow, const std::filesystem::path& models,
                        const std::vector<std::string>& more = {}) {
    const TemporaryFolder folder;
    std::vector<std::string> words{"run",           workflow.string(),   "--models",
                                   models.string(), "--output",          (folder / "out").string(),
                                   "--json",        "--disable-metadata"};
    words.insert(words.end(), more.begin(), more.end());
    DemoRun run{.outcome = run_program(words), .report = nullptr, .picture = {}};
    if (!nlohmann::json::accept(run.outcome.out)) return run;
    run.report = nlohmann::json::parse(run.outcome.out);
    if (run.report.contains("outputs") && !run.report["outputs"].empty())
        run.picture = content_of(run.report["outputs"][0]["path"].get<std::string>());
    return run;
}

/// The demo as it is.
inline DemoRun run_demo(const std::vector<std::string>& more = {}) {
    return run_demo(in_repository("data/demo/workflow.json"), in_repository("data/demo/models"),
                    more);
}

/// The path of a described machine.
inline std::string machine_profile(const std::string& name) {
    return in_repository("profiles/" + name + ".json").string();
}

}  // namespace ballast::testing
