#include "ballast/cli/free_report.hpp"

namespace ballast::cli {
namespace {

Json sums_json(const std::map<DeviceId, Bytes>& sums) {
    Json json = Json::object();
    for (const auto& [device, bytes] : sums) json[to_string(device)] = bytes.count();
    return json;
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
        released.push_back({{"name", model.name}, {"devices", sums_json(model.released)}});
    Json kept = Json::array();
    for (const auto& model : answer.models.kept)
        kept.push_back({{"name", model.name},
                        {"devices", sums_json(model.held)},
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
            {"errors", std::move(errors)}};
}

Json to_json(const residency::ModelStatus& model) {
    return {{"name", model.name},
            {"file", model.file},
            {"compute", to_string(model.compute)},
            {"bytes", model.bytes.count()},
            {"homes", sums_json(model.homes)},
            {"held", sums_json(model.held)},
            {"complete", model.is_complete},
            {"retention", std::string(to_string(model.retention.value))},
            {"said", model.retention.is_said},
            {"uses", model.uses},
            {"in_use", model.is_in_use},
            {"plan", model.plan_digest}};
}

}  // namespace ballast::cli
