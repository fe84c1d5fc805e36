#include "ballast/cli/workflow_faults.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace ballast::cli {
namespace {

/// More than this scroll the first ones away.
constexpr std::size_t kShownFaults = 20;

Error error_of(const graph::Fault& fault, const graph::NodeFaults& node, const std::string& file) {
    // the place names the input already
    std::string why = fault.details == fault.input ? "" : fault.details;
    if (const auto named = fault.input + " - "; why.starts_with(named)) why.erase(0, named.size());
    return {.code = Code::bad_workflow,
            .what = fault.message,
            .why = std::move(why),
            .place = {.file = file,
                      .node = fmt::format("{} ({})", node.node, node.class_type),
                      .key = fault.input},
            .hint = fault.hint};
}

}  // namespace

int refuse_workflow(const graph::ValidationReport& report, const std::string& file,
                    Console& console) {
    auto error = graph::to_error(report);
    if (error.place.file.empty()) error.place.file = file;
    if (console.form() == Form::json) {
        auto document = error_document(error);
        document["error"]["node_errors"] = report.node_errors();
        console.print(document);
        return exit_status(error.code);
    }
    std::size_t count = 0;
    for (const auto& node : report.node_faults)
        for (const auto& fault : node.faults)
            if (++count <= kShownFaults) Console::complain(error_of(fault, node, file));
    if (count > kShownFaults)
        Console::note(fmt::format("... and {} more faults", count - kShownFaults));
    if (report.node_faults.empty()) Console::complain(error);
    return exit_status(error.code);
}

}  // namespace ballast::cli
