#pragma once
// Realises a plan: reads each block straight into its home and hands out pins on the compute
// device.
//
// Weights keep the type they have in the file. Networks never hold weights; they pin a block for
// as long as one layer needs it.

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/formats/io/reader.hpp"
#include "ballast/engine/plan/plan.hpp"

namespace ballast::weights {

class WeightStore;

/// While it lives, the bytes of one block are on the compute device and do not move. Move-only;
/// may be released from any thread.
class [[nodiscard]] Pin {
public:
    Pin(Pin&& other) noexcept;
    Pin& operator=(Pin&& other) noexcept;
    ~Pin();

    [[nodiscard]] const plan::Block& block() const;
    /// Bytes of the block's `tensor`-th tensor as stored in the file, aligned to 64 where its size
    /// is a multiple of 64, else at least to its element.
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t tensor) const;

private:
    friend class WeightStore;
    Pin(const WeightStore* store, plan::BlockId id) : store_(store), id_(id) {}

    const WeightStore* store_ = nullptr;
    plan::BlockId id_;
};

struct LoadRequest {
    std::shared_ptr<const formats::Reader> reader;
    plan::BlockTable table;
    plan::Plan plan;
    device::Ledger* ledger = nullptr;  ///< must outlive the store
    unsigned reading_threads = 2;
};

/// The blocks of one model, in memory. Immutable after loading; pins from any thread.
class WeightStore {
public:
    /// Lays the blocks out, reserves what that takes on every device (all or nothing), allocates
    /// it, then reads. Nothing stays reserved when it fails. Before anything is read:
    /// `does_not_fit` (the plan, or a limit), `not_available` (a home that cannot hold weights yet:
    /// all but the CPU), `out_of_memory` (the system refuses), `internal` (a plan of another
    /// model). After that, what the reader says.
    static Result<std::shared_ptr<const WeightStore>> load(LoadRequest request);

    WeightStore(const WeightStore&) = delete;
    WeightStore& operator=(const WeightStore&) = delete;
    ~WeightStore();

    [[nodiscard]] const plan::BlockTable& table() const { return table_; }
    [[nodiscard]] const plan::Plan& plan() const { return plan_; }
    /// Bytes laid out per device, measured while laying out: what the plan promised.
    [[nodiscard]] const std::map<DeviceId, Bytes>& realised() const { return realised_; }

    /// Pins one block. A resident block is always granted.
    Result<Pin> pin(plan::BlockId id) const;

    /// Number of pins alive now; zero before a store may be destroyed.
    [[nodiscard]] std::size_t pins() const { return pins_.load(); }

private:
    friend class Pin;
    class Region;

    WeightStore(plan::BlockTable table, plan::Plan plan);
    /// Finds each tensor's place; returns the bytes up to the end of the last one.
    std::size_t lay_out();
    Result<void> read_all(const formats::Reader& reader, unsigned threads);

    plan::BlockTable table_;
    plan::Plan plan_;
    std::map<DeviceId, Bytes> realised_;
    std::vector<device::Reservation> reservations_;
    std::unique_ptr<Region> region_;
    std::vector<std::vector<std::size_t>> placed_;  // [block][tensor] -> offset in the region
    mutable std::atomic<std::size_t> pins_{0};
};

}  // namespace ballast::weights
