#include "ballast/cli/free_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ballast::cli {
namespace {

residency::FreeFlags flags_of(const std::string& what) {
    if (what == "models") return {.unload_models = true};
    if (what == "cache") return {.unload_models = false, .free_memory = true};
    if (what == "both") return {.unload_models = true, .free_memory = true};
    return {};
}

Result<void> require_named(const std::string& option, const std::string& name,
                           const graph::WorkflowModels& used) {
    const bool is_used = std::ranges::any_of(used.models, [&](const auto& model) {
        return residency::is_named(name, model.name, model.identity.path);
    });
    if (is_used) return {};
    std::vector<std::string> names;
    for (const auto& model : used.models) names.push_back(model.name);
    return fail(Error{.code = Code::usage,
                      .what = "cannot choose the model",
                      .why = fmt::format("the workflow computes with no model named '{}'", name),
                      .place = {.key = option},
                      .hint = names.empty()
                                  ? "it computes with none"
                                  : fmt::format("its models are: {}", fmt::join(names, ", "))});
}

}  // namespace

FreeOptions free_options(const Settings& settings) {
    return {.flags = flags_of(settings.text("free-between")),
            .ejected = settings.list("eject-between"),
            .unloads_all = settings.flag("unload-between"),
            .kept = settings.list("keep")};
}

bool asks_for_nothing(const FreeOptions& options, std::int64_t passes) {
    const bool asks =
        options.flags != residency::FreeFlags{} || !options.ejected.empty() || options.unloads_all;
    return asks && passes < 2;
}

Result<void> require_named_models(const FreeOptions& options, const graph::WorkflowModels& models) {
    for (const auto& name : options.ejected)
        if (auto known = require_named("--eject-between", name, models); !known) return known;
    for (const auto& name : options.kept)
        if (auto known = require_named("--keep", name, models); !known) return known;
    return {};
}

std::vector<residency::ExpectedUse> uses_of(const graph::WorkflowModels& models) {
    std::vector<residency::ExpectedUse> uses;
    for (const auto& step : models.steps) {
        const auto& identity = models.models[step.model].identity;
        uses.push_back({.file = identity.path, .options = graph::loading_options(identity)});
    }
    return uses;
}

std::vector<residency::ExpectedUse> expected_uses(const std::vector<residency::ExpectedUse>& once,
                                                  std::int64_t passes) {
    auto all = once;
    // what comes after the next pass decides nothing
    if (passes > 1) all.insert(all.end(), once.begin(), once.end());
    return all;
}

void request_between(const FreeOptions& options, residency::FreeFlow& flow) {
    flow.request(options.flags);
    // one that has made room for another in the meantime has gone already
    for (const auto& name : options.ejected) static_cast<void>(flow.request_eject(name));
    if (options.unloads_all) flow.request_unload_all();
}

}  // namespace ballast::cli
