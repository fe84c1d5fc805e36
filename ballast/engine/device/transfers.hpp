#pragma once
// Copies between any two devices of a machine: directly where one reaches the other, else in pieces
// through the host. Both are counted.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/device/ledger.hpp"

namespace ballast::device {

struct TransferCount {
    std::uint64_t copies = 0;
    Bytes bytes{};

    bool operator==(const TransferCount&) const = default;
};

struct TransferCounts {
    TransferCount asked_for{};  ///< each copy once, whichever way it went
    TransferCount staged{};     ///< those of them that went through the host
    /// What went over each way, by its ends: of staged copies, their pieces on both parts.
    std::map<std::pair<DeviceId, DeviceId>, TransferCount> ways{};

    bool operator==(const TransferCounts&) const = default;
};

/// Thread-safe; copies wait for one another, counts for nobody.
class Transfers {
public:
    /// Both must outlive it; the host is among the devices.
    Transfers(const DeviceSet& devices, Ledger& ledger);
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;
    ~Transfers();

    /// Copies and returns when that is done. Fails with `not_available` (a device that does not
    /// exist), `does_not_fit` (no room on cpu for staging), or what the devices say; after that
    /// nothing is on its way any more, and the next copy begins anew.
    Result<void> copy(Target to, Source from);

    /// Gives back the host memory that copies between devices go through; the next one takes it
    /// anew.
    void release_staging();

    /// Counts a copy that somebody else made, from the disk.
    void count_read(DeviceId to, Bytes bytes);

    [[nodiscard]] const DeviceSet& devices() const { return *devices_; }
    [[nodiscard]] TransferCounts counts() const;
    void reset_counts();

private:
    struct Staging;

    Result<Stream*> stream_of(DeviceId device);
    Result<Staging*> staging();
    Result<void> copy_directly(const Target& to, const Source& from);
    Result<void> copy_through_host(const Target& to, const Source& from);
    Result<void> queue_pieces(Stream& reader, Stream& writer, const Target& to, const Source& from);
    void count(DeviceId from, DeviceId to, std::size_t bytes);

    const DeviceSet* devices_;
    Ledger* ledger_;
    mutable std::mutex mutex_;
    std::map<DeviceId, std::unique_ptr<Stream>> streams_;
    std::unique_ptr<Staging> staging_;
    mutable std::mutex counts_mutex_;
    TransferCounts counts_;
};

}  // namespace ballast::device
