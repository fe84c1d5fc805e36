#include "ballast/cli/free_report.hpp"

namespace ballast::cli {
namespace {

Json optional_json(const std::optional<Bytes>& bytes) {
    return bytes ? Json(bytes->count()) : Json(nullptr);
}

Json device_json(const residency::DeviceFreed& told) {
    Json tiers = Json::object();
    for (const auto& [tier, bytes] : told.by_tier)
        tiers[std::string(to_string(tier))] = bytes.count();
    Json json{{"released", told.released.count()},
              {"tiers", std::move(tiers)},
              {"kept", told.kept.count()},
              {"cache_released", told.cache_released.count()}};
    if (told.error) json["error"] = to_json(*told.error);
    return json;
}

}  // namespace

Json to_json(const residency::FreeAnswer& answer) {
    Json released = Json::array();
    for (const auto& model : answer.models.freed)
        released.push_back({{"name", model.name}, {"devices", bytes_json(model.released)}});
    Json kept = Json::array();
    for (const auto& model : answer.models.kept)
        kept.push_back({{"name", model.name},
                        {"devices", bytes_json(model.held)},
                        {"why", std::string(to_string(model.why))}});
    Json devices = Json::object();
    for (const auto& [device, told] : answer.devices)
        devices[to_string(device)] = device_json(told);
    Json errors = Json::array();
    for (const auto& error : answer.errors) errors.push_back(to_json(error));
    return {{"released", std::move(released)},
            {"kept", std::move(kept)},
            {"results_dropped", answer.are_results_dropped},
            {"devices", std::move(devices)},
            {"errors", std::move(errors)},
            {"resident_before", optional_json(answer.resident_before)},
            {"resident_after", optional_json(answer.resident_after)}};
}

namespace {

Json to_json(const residency::ModelStatus& model) {
    return {{"name", model.name},
            {"file", model.file},
            {"compute", to_string(model.compute)},
            {"bytes", model.bytes.count()},
            {"homes", bytes_json(model.homes)},
            {"held", bytes_json(model.held)},
            {"complete", model.is_complete},
            {"retention", std::string(to_string(model.retention.value))},
            {"said", model.retention.is_said},
            {"uses", model.uses},
            {"in_use", model.is_in_use},
            {"plan", model.plan_digest}};
}

Json device_json(const residency::MemoryStatus::Device& device, const device::DeviceUse& use) {
    Json by_tag = Json::object();
    for (std::size_t i = 0; i < device::kTags; ++i)
        by_tag[std::string(to_string(static_cast<device::Tag>(i)))] = use.by_tag[i].now.count();
    Json json{{"id", to_string(device.id)},
              {"awake", device.is_awake},
              {"total", optional_json(device.total)},
              {"free", optional_json(device.free)},
              {"cached", device.cached.count()},
              {"now", use.now.count()},
              {"peak", use.peak.count()},
              {"limit", optional_json(use.limit)},
              {"by_tag", std::move(by_tag)}};
    if (!device.is_awake) json["note"] = "not initialised";
    return json;
}

}  // namespace

Json to_json(const residency::MemoryStatus& status) {
    Json models = Json::array();
    for (const auto& model : status.models) models.push_back(to_json(model));
    Json devices = Json::array();
    for (const auto& device : status.devices) {
        const auto use = status.ledger.find(device.id);
        devices.push_back(
            device_json(device, use == status.ledger.end() ? device::DeviceUse{} : use->second));
    }
    return {{"models", std::move(models)},
            {"devices", std::move(devices)},
            {"running", status.is_running},
            {"requests_pending", status.has_requests}};
}

}  // namespace ballast::cli
