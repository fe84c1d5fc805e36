#include "ballast/cli/dry_run.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "ballast/engine/core/write_file.hpp"

namespace ballast::cli {
namespace {

Json to_json(const PlannedModel& model) {
    Json blocks = Json::array();
    for (std::size_t i = 0; i < model.table.blocks().size(); ++i) {
        const auto& block = model.table.blocks()[i];
        blocks.push_back({{"name", block.name},
                          {"bytes", block.bytes.count()},
                          {"home", to_string(model.plan.homes[i])},
                          {"pinned", block.name == plan::kLooseBlock}});
    }
    Json homes = Json::object();
    for (const auto& [device, bytes] : model.plan.per_device)
        homes[to_string(device)] = bytes.count();
    return {{"name", model.name},
            {"node", model.node},
            {"compute", to_string(model.plan.compute)},
            {"mode", "auto"},
            {"blocks", std::move(blocks)},
            {"homes", homes},
            {"quotas", homes},
            {"ring_bytes", 0},
            {"activation_bytes", nullptr},
            {"bytes_per_step", 0},
            {"expected", nullptr},
            {"fits", model.plan.fits},
            {"shortfall", shortfall_json(model.plan.shortfall)},
            {"warnings", Json::array()},
            {"explanation", Json::array({"all blocks stay on cpu, the only device so far"})},
            {"plan", plan::digest(model.table, model.plan)}};
}

constexpr const char* kWeightsOnly =
    "weights only: what the arithmetic needs beside them is not planned yet";

/// What all models of the workflow need together.
struct Total {
    Bytes bytes;
    std::map<DeviceId, Shortfall> shortfall;

    [[nodiscard]] bool fits() const { return shortfall.empty(); }
};

Total total_of(const std::vector<PlannedModel>& models, const graph::RuntimeOptions& options) {
    Total total;
    for (const auto& model : models) total.bytes += model.table.bytes();
    const auto limit = options.memory.limits.find(kCpu);
    if (limit != options.memory.limits.end() && total.bytes > limit->second)
        total.shortfall[kCpu] = {.needed = total.bytes.count(), .available = limit->second.count()};
    return total;
}

std::string to_text(const std::vector<PlannedModel>& models, const Total& total) {
    std::string text = "the workflow is valid\n";
    for (const auto& model : models)
        text += fmt::format("{}: {} blocks, {} on {}\n", escaped(model.name),
                            model.table.blocks().size(), to_string(model.table.bytes()),
                            to_string(model.plan.compute));
    text += fmt::format("weights: {} (the arithmetic needs more, which is not planned yet)\n",
                        to_string(total.bytes));
    return text;
}

Error does_not_fit(const Total& total) {
    const auto& lack = total.shortfall.at(kCpu);
    return {
        .code = Code::does_not_fit,
        .what = "the workflow does not fit",
        .why = fmt::format("its weights need {}, available are {}, missing {}",
                           to_string(Bytes{lack.needed}), to_string(Bytes{lack.available}),
                           to_string(Bytes{lack.missing()})),
        .place = {.key = to_string(kCpu)},
        .hint = fmt::format("raise the limit to --memory-limit {}={} for the weights alone, the "
                            "arithmetic needs more; or use smaller models",
                            to_string(kCpu), lack.needed),
        .shortfall = total.shortfall};
}

}  // namespace

int dry_run(const std::vector<PlannedModel>& models, const graph::RuntimeOptions& options,
            const Settings& settings, std::vector<std::string> warnings, Console& console) {
    const auto total = total_of(models, options);
    warnings.emplace_back(kWeightsOnly);
    Json list = Json::array();
    for (const auto& model : models) list.push_back(to_json(model));
    Json document{{"models", std::move(list)},
                  {"homes", {{to_string(kCpu), total.bytes.count()}}},
                  {"fits", total.fits()},
                  {"shortfall", shortfall_json(total.shortfall)},
                  {"warnings", warnings}};
    std::optional<Error> refusal;
    if (!total.fits()) {
        refusal = does_not_fit(total);
        document["error"] = to_json(*refusal);
    }
    if (const auto file = settings.text("report"); !file.empty())
        if (const auto written = write_file(file, to_text(document), "report"); !written)
            return console.fail(written.error());
    console.print(document);
    if (!settings.flag("quiet")) console.say(to_text(models, total));
    if (!refusal) return 0;
    if (console.form() == Form::text) Console::complain(*refusal);
    return exit_status(refusal->code);
}

}  // namespace ballast::cli
