#pragma once
// Copies between any two devices of a machine: directly where one reaches the other, else in pieces
// through the host. Both are counted.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/device/ledger.hpp"

namespace ballast::device {

struct TransferCount {
    std::uint64_t copies = 0;
    Bytes bytes{};

    bool operator==(const TransferCount&) const = default;
};

/// What went over each way, by its ends; what was staged counts on both parts of its way, and once
/// as staged.
struct TransferCounts {
    std::map<std::pair<DeviceId, DeviceId>, TransferCount> ways{};
    TransferCount staged{};

    bool operator==(const TransferCounts&) const = default;
};

/// Thread-safe; copies wait for one another.
class Transfers {
public:
    /// Both must outlive it.
    Transfers(const DeviceSet& devices, Ledger& ledger);
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;
    ~Transfers();

    /// Copies and returns when that is done. Fails with `not_available` (a device that does not
    /// exist), `does_not_fit` (no room on cpu for staging), or what the device says.
    Result<void> copy(Target to, Source from);

    [[nodiscard]] const DeviceSet& devices() const { return *devices_; }
    [[nodiscard]] TransferCounts counts() const;
    void reset_counts();

private:
    struct Staging;

    Result<Stream*> stream_of(DeviceId device);
    Result<void> copy_directly(Stream& stream, const Target& to, const Source& from);
    Result<void> copy_through_host(const Target& to, const Source& from);

    const DeviceSet* devices_;
    Ledger* ledger_;
    mutable std::mutex mutex_;
    std::map<DeviceId, std::unique_ptr<Stream>> streams_;
    std::unique_ptr<Staging> staging_;
    TransferCounts counts_;
};

}  // namespace ballast::device
