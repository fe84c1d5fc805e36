#include "ballast/engine/residency/report.hpp"

namespace ballast::residency {

std::string_view to_string(Tier tier) {
    switch (tier) {
        case Tier::resident: return "resident";
        case Tier::peer: return "peer";
        case Tier::host: return "host";
        case Tier::disk: return "disk";
    }
    return "";
}

Tier tier_of(DeviceId home, DeviceId compute) {
    if (home == compute) return Tier::resident;
    if (home.kind == DeviceKind::disk) return Tier::disk;
    return home == kCpu ? Tier::host : Tier::peer;
}

std::string_view to_string(KeptBecause why) {
    switch (why) {
        case KeptBecause::retained: return "retained";
        case KeptBecause::in_use: return "in use";
        case KeptBecause::not_asked: return "not asked for";
        case KeptBecause::failed: return "failed";
    }
    return "";
}

std::map<DeviceId, Bytes> FreeReport::released() const {
    std::map<DeviceId, Bytes> sums;
    for (const auto& model : freed)
        for (const auto& [device, bytes] : model.released) sums[device] += bytes;
    return sums;
}

std::map<DeviceId, std::map<Tier, Bytes>> FreeReport::released_by_tier() const {
    std::map<DeviceId, std::map<Tier, Bytes>> sums;
    for (const auto& model : freed)
        for (const auto& [device, bytes] : model.released)
            sums[device][tier_of(device, model.compute)] += bytes;
    return sums;
}

std::map<DeviceId, Bytes> FreeReport::held() const {
    std::map<DeviceId, Bytes> sums;
    for (const auto& model : kept)
        for (const auto& [device, bytes] : model.held) sums[device] += bytes;
    return sums;
}

}  // namespace ballast::residency
