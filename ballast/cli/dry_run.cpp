#include "ballast/cli/dry_run.hpp"

#include "ballast/cli/workflow_plan_text.hpp"
#include "ballast/engine/core/write_file.hpp"

namespace ballast::cli {

int dry_run(const WorkflowFit& fit, const Settings& settings,
            const std::vector<std::string>& warnings, Console& console) {
    const auto document = workflow_plan_json(fit.phases, warnings, fit.refusal);
    if (const auto report = settings.text("report"); !report.empty())
        if (const auto written = write_file(report, to_text(document), "report"); !written)
            return console.fail(written.error());
    console.print(document);
    if (!settings.flag("quiet"))
        console.say("the workflow is valid\n" + workflow_plan_text(fit.phases, Detail::summary));
    if (!fit.refusal) return 0;
    if (console.form() == Form::text) Console::complain(*fit.refusal);
    return exit_status(fit.refusal->code);
}

}  // namespace ballast::cli
