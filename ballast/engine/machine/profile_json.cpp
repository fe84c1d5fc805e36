#include "ballast/engine/machine/profile_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/json_members.hpp"
#include "ballast/engine/core/text_file.hpp"

namespace ballast::machine {
namespace {

constexpr Bytes kLargestFile{std::uint64_t{4} << 20U};

HostProfile read_host(JsonMembers host) {
    HostProfile result{.total = host.bytes("total"),
                       .available = host.bytes("available"),
                       .free = host.bytes("free"),
                       .cached = host.bytes("cached"),
                       .shmem = host.bytes("shmem"),
                       .swap_total = host.bytes("swap_total"),
                       .swap_free = host.bytes("swap_free"),
                       .huge_pages_free = host.bytes("huge_pages_free"),
                       .limit = host.bytes("limit"),
                       .limit_used = host.bytes("limit_used"),
                       .copy_gbps = host.rate("copy_gbps")};
    host.at_most("available", result.available, "total", result.total);
    host.at_most("free", result.free, "total", result.total);
    return result;
}

DeviceAttributes read_attributes(JsonMembers attributes) {
    return {.pageable_access = attributes.truth("pageable_access"),
            .host_page_tables = attributes.truth("host_page_tables"),
            .managed = attributes.truth("managed"),
            .concurrent_managed = attributes.truth("concurrent_managed"),
            .direct_managed_host = attributes.truth("direct_managed_host"),
            .own_memory_node = attributes.truth("own_memory_node")};
}

std::vector<Query> read_queries(JsonMembers& device) {
    constexpr std::array kQueries{Query::attributes, Query::free, Query::total, Query::name};
    std::vector<Query> queries;
    for (const auto& text : device.texts("query_fails")) {
        const auto found =
            std::ranges::find(kQueries, text, [](Query query) { return to_string(query); });
        if (found == kQueries.end())
            device.refuse("query_fails",
                          fmt::format("'{}' is not one of attributes, free, total, name", text));
        else
            queries.push_back(*found);
    }
    return queries;
}

DeviceProfile read_device(JsonMembers device) {
    DeviceProfile result{.id = device.device("id").value_or(DeviceId{DeviceKind::cuda, 0}),
                         .name = device.text("name"),
                         .vendor = lower(device.text("vendor")),
                         .total = device.bytes("total"),
                         .free = device.bytes("free"),
                         .integrated = device.truth("integrated"),
                         .attributes = {},
                         .gtt = device.bytes("gtt"),
                         .carveout = device.bytes("carveout"),
                         .working_set = device.bytes("working_set"),
                         .capability = device.text("capability"),
                         .types = device.texts("types"),
                         .tflops = device.rates("tflops"),
                         .memory_gbps = device.rate("memory_gbps"),
                         .granularity = device.bytes("granularity"),
                         .query_fails = read_queries(device),
                         .uuid = device.text("uuid"),
                         .pci = device.text("pci")};
    if (auto attributes = device.object("attributes"))
        result.attributes = read_attributes(*std::move(attributes));
    if (result.total && result.total->is_zero())
        device.refuse("total", "a device of no memory; leave the key out if it is unknown");
    if (result.granularity && result.granularity->is_zero())
        device.refuse("granularity", "it must be at least 1");
    device.at_most("free", result.free, "total", result.total);
    return result;
}

Link read_link(JsonMembers link) {
    Link result{.from = link.device("from").value_or(kCpu),
                .to = link.device("to").value_or(kCpu),
                .gbps = link.rate("gbps").value_or(0),
                .latency_us = link.amount("latency_us").value_or(0),
                .peer = link.truth("peer").value_or(false),
                .shared_with = link.texts("shared_with")};
    if (!link.has("gbps")) link.refuse("gbps", "the link has no rate");
    return result;
}

StorageProfile read_storage(JsonMembers storage) {
    return {.kind = storage.text("kind"),
            .gbps = storage.rate("gbps"),
            .latency_us = storage.amount("latency_us")};
}

System read_system(JsonMembers& machine) {
    const auto text = lower(machine.text("os"));
    if (text.empty()) return System::gnu_linux;
    const auto system = parse_system(text);
    if (!system)
        machine.refuse("os", fmt::format("'{}' is not one of linux, wsl2, windows, macos", text));
    return system.value_or(System::gnu_linux);
}

MachineProfile read_machine(JsonMembers machine) {
    MachineProfile profile{.name = machine.text("name"),
                           .system = read_system(machine),
                           .system_version = machine.text("os_version"),
                           .source = machine.texts("source")};
    if (auto host = machine.object("host")) profile.host = read_host(*std::move(host));
    for (auto& device : machine.objects("devices"))
        profile.devices.push_back(read_device(std::move(device)));
    for (auto& link : machine.objects("links")) profile.links.push_back(read_link(std::move(link)));
    if (auto storage = machine.object("storage"))
        profile.storage = read_storage(*std::move(storage));
    return profile;
}

/// What no single member shows.
void check_together(const MachineProfile& profile, JsonFindings& findings) {
    std::set<DeviceId> known;
    for (std::size_t i = 0; i < profile.devices.size(); ++i) {
        const auto path = fmt::format("devices[{}].id", i);
        const auto id = profile.devices[i].id;
        if (id.kind == DeviceKind::disk)
            findings.refuse(Code::bad_workflow, path, "the disk is no device of its own",
                            "describe it under \"storage\"");
        else if (!known.insert(id).second)
            findings.refuse(Code::bad_workflow, path,
                            fmt::format("{} is listed twice", to_string(id)),
                            "give each device its own number");
    }
    known.insert({kCpu, kDisk});
    for (std::size_t i = 0; i < profile.links.size(); ++i) {
        const auto& link = profile.links[i];
        const auto path = fmt::format("links[{}]", i);
        for (const auto& [member, id] : {std::pair{"from", link.from}, {"to", link.to}})
            if (!known.contains(id))
                findings.refuse(Code::bad_workflow, fmt::format("{}.{}", path, member),
                                fmt::format("there is no device {}", to_string(id)),
                                "list it under \"devices\", or remove the link");
        if (link.from == link.to)
            findings.refuse(Code::bad_workflow, path, "the link goes nowhere",
                            "\"from\" and \"to\" must differ");
    }
}

Error about(const std::filesystem::path& name, Code code, std::string key, std::string why,
            std::string hint) {
    return {.code = code,
            .what = "cannot use the machine profile",
            .why = std::move(why),
            .place = {.file = name.string(), .key = std::move(key)},
            .hint = std::move(hint)};
}

/// The processor's entry stands beside the accelerators, not among them.
void set_processor_apart(MachineProfile& profile) {
    const auto found = std::ranges::find(profile.devices, kCpu, &DeviceProfile::id);
    if (found == profile.devices.end()) return;
    profile.processor = std::move(*found);
    profile.devices.erase(found);
    if (!profile.host.total) profile.host.total = profile.processor->total;
}

}  // namespace

Result<LoadedProfile> parse_profile(std::string_view text, const std::filesystem::path& name) {
    const auto document = JsonDocument::parse(text);
    if (!document)
        return fail(about(name, document.error().code, {}, document.error().why,
                          "a profile is {\"host\": {...}, \"devices\": [...]}"));
    JsonFindings findings;
    auto profile = read_machine(document->members(findings));
    if (!findings.refusal) check_together(profile, findings);
    if (const auto& refusal = findings.refusal)
        return fail(about(name, refusal->code, refusal->path, refusal->why, refusal->hint));
    set_processor_apart(profile);
    return LoadedProfile{std::move(profile), std::move(findings.warnings)};
}

Result<LoadedProfile> load_profile(const std::filesystem::path& path) {
    const auto text = read_text_file(path, kLargestFile);
    if (!text) {
        auto error = text.error();
        error.what = "cannot use the machine profile";
        if (error.hint.empty()) error.hint = "profiles of known machines lie in profiles/";
        return fail(std::move(error));
    }
    return parse_profile(*text, path);
}

}  // namespace ballast::machine
