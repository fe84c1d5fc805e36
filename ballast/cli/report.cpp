#include "ballast/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ballast/cli/free_report.hpp"

namespace ballast::cli {
namespace {

Json to_json(const Seconds& seconds) {
    return {{"total", seconds.total},
            {"load", seconds.load},
            {"sample", seconds.sample},
            {"decode", seconds.decode}};
}

std::string_view status_of(const Record& record) {
    if (!record.error) return "success";
    return record.error->code == Code::interrupted ? "interrupted" : "error";
}

std::uint64_t bytes_on(const std::map<DeviceId, Bytes>& sums, DeviceId device) {
    const auto found = sums.find(device);
    return found == sums.end() ? 0 : found->second.count();
}

Json devices_of(const graph::RuntimeReport& report) {
    auto devices = report.devices;
    devices.try_emplace(kCpu);
    Json list = Json::object();
    for (const auto& [device, use] : devices) {
        Json by_tag = Json::object();
        for (std::size_t i = 0; i < device::kTags; ++i)
            by_tag[std::string(to_string(static_cast<device::Tag>(i)))] =
                use.by_tag[i].peak.count();
        list[to_string(device)] = {{"planned", bytes_on(report.planned, device)},
                                   {"realised", bytes_on(report.realised, device)},
                                   {"peak", use.peak.count()},
                                   {"limit", use.limit ? Json(use.limit->count()) : Json(nullptr)},
                                   {"now", use.now.count()},
                                   {"by_tag", std::move(by_tag)}};
    }
    return list;
}

Json to_json(const graph::ModelReport& model) {
    return {{"name", model.name},
            {"compute", to_string(model.compute)},
            {"bytes", model.bytes.count()},
            {"blocks", model.blocks},
            {"allocation", model.allocation},
            {"homes", bytes_json(model.homes)},
            {"patched_blocks", model.patched_blocks},
            {"plan", model.plan_digest}};
}

/// The share of the shorter one of arithmetic and transfers that ran beside the other.
std::optional<double> overlap(const graph::StreamingReport& streaming) {
    const auto shorter = std::min(streaming.compute_seconds, streaming.transfer_seconds);
    if (shorter <= 0) return std::nullopt;
    const auto together =
        streaming.compute_seconds + streaming.transfer_seconds - streaming.wall_seconds;
    return std::clamp(together / shorter, 0.0, 1.0);
}

Json to_json(const graph::StreamingReport& streaming) {
    const auto share = overlap(streaming);
    return {{"transfers", streaming.transfers},
            {"bytes", streaming.bytes.count()},
            {"compute_s", streaming.compute_seconds},
            {"transfer_s", streaming.transfer_seconds},
            {"wall_s", streaming.wall_seconds},
            {"bound_s", streaming.bound_seconds},
            {"overlap", share ? Json(*share) : Json(nullptr)}};
}

}  // namespace

Seconds Record::seconds() const {
    Seconds sum;
    for (const auto& pass : passes) {
        sum.total += pass.seconds.total;
        sum.load += pass.seconds.load;
        sum.sample += pass.seconds.sample;
        sum.decode += pass.seconds.decode;
    }
    return sum;
}

void add_outputs(std::vector<Output>& outputs,
                 const std::vector<std::pair<std::string, graph::Json>>& ui,
                 const graph::RuntimeOptions& folders) {
    const auto text = [](const graph::Json& image, const char* key) {
        const auto found = image.find(key);
        return found != image.end() && found->is_string() ? found->get<std::string>() : "";
    };
    for (const auto& [node, shown] : ui) {
        if (!shown.is_object() || !shown.contains("images")) continue;
        for (const auto& image : shown["images"]) {
            if (!image.is_object()) continue;
            const auto type = text(image, "type");
            const auto& folder = type == "temp" ? folders.temp_folder : folders.output_folder;
            Output output{node, folder / text(image, "subfolder") / text(image, "filename"), type};
            if (std::ranges::count(outputs, output) == 0) outputs.push_back(std::move(output));
        }
    }
}

Json to_json(const Record& record) {
    Json outputs = Json::array();
    for (const auto& output : record.outputs)
        outputs.push_back(
            {{"node", output.node}, {"path", output.path.string()}, {"type", output.type}});
    Json models = Json::array();
    for (const auto& model : record.runtime.models) models.push_back(to_json(model));
    Json runs = Json::array();
    for (const auto& pass : record.passes) {
        runs.push_back({{"seconds", to_json(pass.seconds)},
                        {"executed", pass.executed},
                        {"cached", pass.cached}});
        if (pass.freed) runs.back()["freed"] = to_json(*pass.freed);
    }
    const Pass last = record.passes.empty() ? Pass{} : record.passes.back();

    Json document{{"status", status_of(record)},
                  {"outputs", std::move(outputs)},
                  {"seconds", to_json(record.seconds())},
                  {"devices", devices_of(record.runtime)},
                  {"models", std::move(models)},
                  {"streaming", to_json(record.runtime.streaming)},
                  {"cache", {{"executed", last.executed}, {"cached", last.cached}}},
                  {"runs", std::move(runs)},
                  {"warnings", record.warnings},
                  {"simulated", record.is_simulated},
                  {"runtime", record.runtime_version}};
    if (record.memory) document["memory"] = to_json(*record.memory);
    if (record.error) document["error"] = cli::to_json(*record.error);
    return document;
}

std::string to_text(const Record& record) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const auto& output : record.outputs)
        fmt::format_to(out, "{}\n", escaped(output.path.string()));
    for (std::size_t i = 0; i < record.passes.size(); ++i)
        if (record.passes[i].freed)
            for (const auto& line : record.passes[i].freed->lines())
                fmt::format_to(out, "freed after run {}: {}\n", i + 1, escaped(line));
    const auto seconds = record.seconds();
    fmt::format_to(out, "{:.2f} s: load {:.2f}, sample {:.2f}, decode {:.2f}\n", seconds.total,
                   seconds.load, seconds.sample, seconds.decode);
    for (const auto& [device, use] : record.runtime.devices)
        fmt::format_to(out, "{}: weights {} planned, {} realised, peak {}{}\n", to_string(device),
                       to_string(Bytes{bytes_on(record.runtime.planned, device)}),
                       to_string(Bytes{bytes_on(record.runtime.realised, device)}),
                       to_string(use.peak),
                       use.limit ? fmt::format(", limit {}", to_string(*use.limit)) : "");
    const auto& moved = record.runtime.streaming;
    if (moved.transfers > 0)
        fmt::format_to(out, "{} in {} copies between devices\n", to_string(moved.bytes),
                       moved.transfers);
    if (record.is_simulated && moved.wall_seconds > 0)
        fmt::format_to(out, "simulated: {:.3f} s, arithmetic {:.3f} s, transfers {:.3f} s\n",
                       moved.wall_seconds, moved.compute_seconds, moved.transfer_seconds);
    return text;
}

}  // namespace ballast::cli
