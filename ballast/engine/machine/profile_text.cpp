#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/engine/machine/profile_json.hpp"

namespace ballast::machine {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::optional<Bytes>& value) {
    if (value) object[key] = value->count();
}
void put(Json& object, const char* key, const std::optional<double>& value) {
    if (value) object[key] = *value;
}
void put(Json& object, const char* key, const std::optional<bool>& value) {
    if (value) object[key] = *value ? 1 : 0;
}
void put(Json& object, const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
}
void put(Json& object, const char* key, const std::vector<std::string>& values) {
    if (!values.empty()) object[key] = values;
}

Json host_json(const HostProfile& host) {
    Json json = Json::object();
    put(json, "total", host.total);
    put(json, "available", host.available);
    put(json, "free", host.free);
    put(json, "cached", host.cached);
    put(json, "shmem", host.shmem);
    put(json, "swap_total", host.swap_total);
    put(json, "swap_free", host.swap_free);
    put(json, "huge_pages_free", host.huge_pages_free);
    put(json, "limit", host.limit);
    put(json, "limit_used", host.limit_used);
    put(json, "copy_gbps", host.copy_gbps);
    return json;
}

Json attributes_json(const DeviceAttributes& attributes) {
    Json json = Json::object();
    put(json, "pageable_access", attributes.pageable_access);
    put(json, "host_page_tables", attributes.host_page_tables);
    put(json, "managed", attributes.managed);
    put(json, "concurrent_managed", attributes.concurrent_managed);
    put(json, "direct_managed_host", attributes.direct_managed_host);
    put(json, "own_memory_node", attributes.own_memory_node);
    return json;
}

Json device_json(const DeviceProfile& device) {
    Json json{{"id", to_string(device.id)}};
    put(json, "name", device.name);
    put(json, "vendor", device.vendor);
    put(json, "total", device.total);
    put(json, "free", device.free);
    put(json, "integrated", device.integrated);
    if (auto attributes = attributes_json(device.attributes); !attributes.empty())
        json["attributes"] = std::move(attributes);
    put(json, "gtt", device.gtt);
    put(json, "carveout", device.carveout);
    put(json, "working_set", device.working_set);
    put(json, "capability", device.capability);
    put(json, "types", device.types);
    if (!device.tflops.empty()) json["tflops"] = device.tflops;
    put(json, "memory_gbps", device.memory_gbps);
    put(json, "granularity", device.granularity);
    for (const auto query : device.query_fails) json["query_fails"].push_back(to_string(query));
    put(json, "uuid", device.uuid);
    put(json, "pci", device.pci);
    return json;
}

Json link_json(const Link& link) {
    Json json{{"from", to_string(link.from)}, {"to", to_string(link.to)}, {"gbps", link.gbps}};
    if (link.latency_us > 0) json["latency_us"] = link.latency_us;
    if (link.peer) json["peer"] = true;
    put(json, "shared_with", link.shared_with);
    return json;
}

}  // namespace

std::string to_json_text(const MachineProfile& profile) {
    Json json = Json::object();
    put(json, "name", profile.name);
    json["os"] = to_string(profile.system);
    put(json, "os_version", profile.system_version);
    json["host"] = host_json(profile.host);
    json["devices"] = Json::array();
    if (profile.processor) json["devices"].push_back(device_json(*profile.processor));
    for (const auto& device : profile.devices) json["devices"].push_back(device_json(device));
    json["links"] = Json::array();
    for (const auto& link : profile.links) json["links"].push_back(link_json(link));
    Json storage = Json::object();
    put(storage, "kind", profile.storage.kind);
    put(storage, "gbps", profile.storage.gbps);
    put(storage, "latency_us", profile.storage.latency_us);
    if (!storage.empty()) json["storage"] = std::move(storage);
    put(json, "source", profile.source);
    // names come from drivers and files: broken UTF-8 must not end the program
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ballast::machine
