#include "ballast/cli/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "ballast/cli/command_settings.hpp"
#include "ballast/cli/machine.hpp"
#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/engine/machine/advice.hpp"
#include "ballast/engine/machine/discovery/probe.hpp"
#include "ballast/engine/machine/discovery/system_files.hpp"
#include "ballast/engine/machine/discovery/topology.hpp"
#include "ballast/engine/machine/profile_json.hpp"

namespace ballast::cli {
namespace {

using machine::Finding;
using machine::Verdict;

/// What --probe measured.
struct Rates {
    std::optional<double> copy_gbps{};
    std::optional<machine::DiskRate> disk{};
};

struct Report {
    Machine machine;
    std::optional<machine::Topology> topology{};
    Rates rates{};
    std::vector<Finding> findings{};
};

std::optional<Bytes> size_of_file_system(const char* path) {
    struct statvfs facts{};
    if (statvfs(path, &facts) != 0) return std::nullopt;
    return Bytes{facts.f_blocks}.times(facts.f_frsize);
}

std::optional<int> swappiness() {
    const auto value = machine::count_in("/proc/sys/vm/swappiness");
    return value && *value <= 200 ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

/// A simulated machine has no file systems and no settings of the kernel; the environment is that
/// of the user, who may want to know what it would do there.
machine::Surroundings surroundings(bool is_simulated) {
    machine::Surroundings result{.variable = process_environment()};
    if (is_simulated) return result;
    result.shared_memory = size_of_file_system("/dev/shm");
    result.swappiness = swappiness();
    result.threads = static_cast<int>(std::thread::hardware_concurrency());
    return result;
}

Result<Rates> probe(const Settings& settings, machine::MachineProfile& profile) {
    const RealClock clock;
    const auto copy = machine::probe_memory_copy(clock);
    if (!copy) return fail(copy.error());
    std::vector<std::filesystem::path> folders;
    for (const auto& folder : settings.list("models")) folders.emplace_back(folder);
    const auto disk = machine::probe_disk(folders, clock);
    if (!disk) return fail(disk.error());
    profile.host.copy_gbps = *copy;
    if (*disk) {
        profile.storage.gbps = (*disk)->gbps;
        profile.storage.latency_us = (*disk)->latency_us;
    }
    return Rates{*copy, *disk};
}

Json findings_json(const std::vector<Finding>& findings) {
    Json list = Json::array();
    for (const auto& finding : findings)
        list.push_back({{"verdict", to_string(finding.verdict)},
                        {"topic", finding.topic},
                        {"text", finding.text},
                        {"remedy", finding.remedy}});
    return list;
}

Json document_of(const Report& report) {
    auto document = devices_document(report.machine);
    document["findings"] = findings_json(report.findings);
    if (report.topology) {
        Json caches = Json::array();
        for (const auto cache : report.topology->l3_caches) caches.push_back(cache.count());
        document["topology"] = {{"cores", report.topology->cores},
                                {"threads", report.topology->threads},
                                {"numa_nodes", report.topology->numa_nodes},
                                {"l3_caches", std::move(caches)}};
    }
    if (report.rates.copy_gbps) {
        document["probe"] = {{"copy_gbps", *report.rates.copy_gbps}};
        if (const auto& disk = report.rates.disk)
            document["probe"]["disk"] = {{"file", disk->file.string()},
                                         {"gbps", disk->gbps},
                                         {"latency_us", disk->latency_us},
                                         {"cold", disk->is_cold}};
    }
    return document;
}

std::string_view sign_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::good: return "ok      ";
        case Verdict::nothing: return "nothing ";
        case Verdict::note: return "note    ";
        case Verdict::hurts: return "HURTS   ";
        case Verdict::broken: return "BROKEN  ";
    }
    return "";
}

void add_measured(std::string& text, const Report& report) {
    const auto out = std::back_inserter(text);
    if (const auto& topology = report.topology) {
        std::vector<std::string> caches;
        for (const auto cache : topology->l3_caches) caches.push_back(to_string(cache));
        fmt::format_to(out, "processor: {} cores, {} threads, {} NUMA nodes, L3 {}\n",
                       topology->cores, topology->threads, topology->numa_nodes,
                       caches.empty() ? "unknown" : fmt::format("{}", fmt::join(caches, " + ")));
    }
    if (report.rates.copy_gbps)
        fmt::format_to(out, "memory copies at {:.1f} GB/s\n", *report.rates.copy_gbps);
    if (const auto& disk = report.rates.disk)
        fmt::format_to(out, "disk reads at {:.2f} GB/s, {:.0f} us for one page ({}{})\n",
                       disk->gbps, disk->latency_us, escaped(disk->file.string()),
                       disk->is_cold ? "" : ", perhaps from the system's cache");
    else if (report.rates.copy_gbps)
        text += "disk: no model file was found to read; name its folder with --models\n";
}

std::string text_of(const Report& report) {
    const auto& machine = report.machine;
    auto text = fmt::format("{}{}\n", escaped(machine.profile.name),
                            machine.is_simulated ? " (simulated)" : "");
    add_measured(text, report);
    text += '\n';
    for (const auto& finding : report.findings) {
        fmt::format_to(std::back_inserter(text), "{}{}: {}\n", sign_of(finding.verdict),
                       escaped(finding.topic), escaped(finding.text));
        if (!finding.remedy.empty()) text += "          do: " + finding.remedy + '\n';
    }
    for (const auto& warning : machine.warnings) text += "warning " + escaped(warning) + '\n';
    const auto faults = std::ranges::count_if(report.findings, [](const Finding& finding) {
        return finding.verdict == Verdict::hurts || finding.verdict == Verdict::broken;
    });
    text += faults == 0
                ? "\nNothing is wrong.\n"
                : fmt::format("\n{} thing{} should be changed.\n", faults, faults == 1 ? "" : "s");
    return text;
}

Error cannot_probe() {
    return {.code = Code::usage,
            .what = "contradiction",
            .why = "--simulate describes another machine, which cannot be measured",
            .place = {.key = "--probe"},
            .hint = "leave one of them out"};
}

Result<Report> report_of(const Settings& settings) {
    if (settings.is_given("simulate") && settings.flag("probe")) return fail(cannot_probe());
    auto machine = machine_of(settings);
    if (!machine) return fail(machine.error());
    Report report{.machine = *std::move(machine)};
    if (!report.machine.is_simulated)
        if (auto topology = machine::topology()) report.topology = *std::move(topology);
    if (settings.flag("probe")) {
        auto rates = probe(settings, report.machine.profile);
        if (!rates) return fail(rates.error());
        report.rates = *std::move(rates);
    }
    const auto around = surroundings(report.machine.is_simulated);
    const auto& assessment = report.machine.assessment;
    report.findings = machine::memory_findings(report.machine.profile, assessment, around);
    std::ranges::move(machine::environment_findings(assessment, around),
                      std::back_inserter(report.findings));
    return report;
}

}  // namespace

int doctor(const Invocation& invocation, Console& console) {
    const auto settings = command_settings(invocation.command->settings, invocation.given);
    if (!settings) return console.fail(settings.error());
    const auto report = report_of(*settings);
    if (!report) return console.fail(report.error());
    if (const auto path = settings->text("save"); !path.empty()) {
        const auto written =
            write_file(path, machine::to_json_text(report->machine.profile), "the profile");
        if (!written) return console.fail(written.error());
    }
    console.say(text_of(*report));
    console.print(document_of(*report));
    return 0;
}

}  // namespace ballast::cli
