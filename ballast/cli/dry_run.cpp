#include "ballast/cli/dry_run.hpp"

#include <fmt/format.h>

#include "ballast/cli/workflow_plan_text.hpp"
#include "ballast/engine/core/write_file.hpp"

namespace ballast::cli {

int dry_run(const std::vector<graph::WorkflowPhase>& phases, const std::string& file,
            const Settings& settings, const std::vector<std::string>& warnings, Console& console) {
    const auto refusal =
        refusal_of(phases, fmt::format("`ballast plan {} --explain` says why each block is where "
                                       "it is; use smaller models or pictures, or raise a limit",
                                       file));
    const auto document = workflow_plan_json(phases, warnings, refusal);
    if (const auto report = settings.text("report"); !report.empty())
        if (const auto written = write_file(report, to_text(document), "report"); !written)
            return console.fail(written.error());
    console.print(document);
    if (!settings.flag("quiet"))
        console.say("the workflow is valid\n" + workflow_plan_text(phases, Detail::summary));
    if (!refusal) return 0;
    if (console.form() == Form::text) Console::complain(*refusal);
    return exit_status(refusal->code);
}

}  // namespace ballast::cli
