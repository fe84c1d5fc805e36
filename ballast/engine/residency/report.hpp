#pragma once
// What the registry tells: which models are loaded, and what letting them go gave back.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/error.hpp"
#include "ballast/engine/plan/plan.hpp"
#include "ballast/engine/residency/model_handle.hpp"
#include "ballast/engine/residency/retention.hpp"

namespace ballast::residency {

/// How blocks that lie on a device reach the one that computes.
enum class Tier { resident, peer, host, disk };
std::string_view to_string(Tier tier);
/// The tier of `home` for a model that computes on `compute`.
Tier tier_of(DeviceId home, DeviceId compute);

/// One loaded model.
struct ModelStatus {
    ModelHandle handle{};
    std::string name{};  ///< "sd15.safetensors (unet)"
    std::string file{};
    DeviceId compute{};
    Bytes bytes{};                      ///< of all blocks
    std::map<DeviceId, Bytes> held{};   ///< weights and ring, now
    std::map<DeviceId, Bytes> homes{};  ///< of the blocks, by the plan; the disk among them
    bool is_complete = true;            ///< false: its end has made room for others
    bool is_in_use = false;
    RetentionFlag retention{};
    std::uint64_t uses = 0;
    std::uint64_t last_use = 0;
    std::string plan_digest{};

    bool operator==(const ModelStatus&) const = default;
};

/// A model that went, and what it gave back.
struct FreedModel {
    ModelHandle handle{};
    std::string name{};
    DeviceId compute{};
    std::map<DeviceId, Bytes> released{};

    bool operator==(const FreedModel&) const = default;
};

enum class KeptBecause {
    retained,   ///< its flag says so
    in_use,     ///< somebody computes with it; it goes after that
    not_asked,  ///< the request was for others
    failed,     ///< letting it go failed
};
std::string_view to_string(KeptBecause why);

struct KeptModel {
    ModelHandle handle{};
    std::string name{};
    std::map<DeviceId, Bytes> held{};
    KeptBecause why = KeptBecause::retained;
    std::optional<Error> error{};
};

/// The answer to a request to let models go. Nothing of it is estimated.
struct FreeReport {
    std::vector<FreedModel> freed{};
    std::vector<KeptModel> kept{};

    /// What models gave back on each device.
    [[nodiscard]] std::map<DeviceId, Bytes> released() const;
    /// The same by tier: the blocks' way to the device that computed.
    [[nodiscard]] std::map<DeviceId, std::map<Tier, Bytes>> released_by_tier() const;
    /// What those that stay hold.
    [[nodiscard]] std::map<DeviceId, Bytes> held() const;
};

}  // namespace ballast::residency
