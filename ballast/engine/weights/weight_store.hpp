#pragma once
// Realises a plan: reads each block straight into its home and hands out pins on the compute
// device.
//
// Weights keep the type they have in the file. Networks never hold weights; they pin a block for
// as long as one layer needs it. A block that lives elsewhere is copied to the compute device when
// it is pinned, into the ring.

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/device/transfers.hpp"
#include "ballast/engine/formats/io/reader.hpp"
#include "ballast/engine/plan/plan.hpp"
#include "ballast/engine/weights/layout.hpp"
#include "ballast/engine/weights/ring.hpp"

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
    /// Bytes of the block's `tensor`-th tensor as stored in the file, aligned at least to its
    /// element. The addresses are the compute device's.
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t tensor) const;

private:
    friend class WeightStore;
    Pin(const WeightStore* store, plan::BlockId id, std::optional<std::size_t> slot)
        : store_(store), id_(id), slot_(slot) {}

    const WeightStore* store_ = nullptr;
    plan::BlockId id_;
    std::optional<std::size_t> slot_;  ///< of the ring; empty: at home
};

/// Opens the file that a model is read from.
using OpenFile = std::function<Result<std::shared_ptr<const formats::Reader>>()>;

struct LoadRequest {
    /// The same model, loaded by another plan, or in part; its owner gives it up. Segments that
    /// both plans have stay where they are and are not read again; all others go before anything is
    /// allocated. Null: all is read. Nobody may have pins on it.
    std::shared_ptr<WeightStore> former{};
    std::shared_ptr<const formats::Reader> reader;
    plan::BlockTable table;
    plan::Plan plan;
    device::Ledger* ledger = nullptr;        ///< must outlive the store
    device::Transfers* transfers = nullptr;  ///< of the plan's devices, must outlive the store too;
                                             ///< null: the host alone
    unsigned reading_threads = 2;
    Bytes least_segment = kLeastSegment;  ///< as `lay_out` takes it
};

/// The blocks of one model, in the memory of their homes. Pins from any thread.
class WeightStore {
public:
    /// Lays the blocks out, reserves what that takes on every device (all or nothing), allocates
    /// it, then reads. Nothing stays reserved when it fails, of the former store neither, unless
    /// the plan itself is refused. Before anything is read: `does_not_fit` (the plan, or a limit),
    /// `not_available` (a device that is not there), `out_of_memory` (a device refuses), `internal`
    /// (a plan of another model, or one that promises other bytes than its blocks take). After
    /// that, what reader and devices say.
    static Result<std::shared_ptr<WeightStore>> load(LoadRequest request);

    WeightStore(const WeightStore&) = delete;
    WeightStore& operator=(const WeightStore&) = delete;
    ~WeightStore();

    [[nodiscard]] const plan::BlockTable& table() const { return table_; }
    [[nodiscard]] const plan::Plan& plan() const { return plan_; }
    /// Bytes of blocks per home, measured while laying out: what the plan promised. Those on disk
    /// stay in the file.
    [[nodiscard]] const std::map<DeviceId, Bytes>& realised() const { return layout_.per_device; }

    /// Blocks that are there now, by home, those in the file included: `realised` without what has
    /// made room.
    [[nodiscard]] std::map<DeviceId, Bytes> present() const;
    /// What is held on each device now: blocks that are there, and the ring.
    [[nodiscard]] std::map<DeviceId, Bytes> held() const;
    /// What `release_tail` would let go on `device`, in that order.
    [[nodiscard]] std::vector<Bytes> tail(DeviceId device) const;

    /// Lets go what lies on `device` until at least `bytes` have gone or nothing is left: the ring
    /// first, then segments from the end of the model. Nothing is copied; the file has it all.
    /// Returns how much went. Nobody may have pins, and none are granted until the model was loaded
    /// again with this as its former store. Not beside other calls.
    Bytes release_tail(DeviceId device, Bytes bytes);
    /// Lets all go, as `release_tail` does.
    void let_go();
    /// Whether all is there that the plan wants.
    [[nodiscard]] bool is_complete() const { return is_complete_; }
    /// Segments of the former store that this one took over, in bytes.
    [[nodiscard]] Bytes taken_over() const { return taken_over_; }

    /// Pins one block. A resident block is always granted; one from elsewhere is copied first,
    /// which fails as the ring, the devices and the reader say.
    Result<Pin> pin(plan::BlockId id) const;

    /// Number of pins alive now; zero before a store may be destroyed.
    [[nodiscard]] std::size_t pins() const { return pins_.load(); }

private:
    friend class Pin;

    /// What is held for one segment.
    struct Room {
        void clear();

        device::Reservation reservation{};
        device::Memory memory{};
        bool is_filled = false;
    };

    explicit WeightStore(LoadRequest request);
    Result<void> check() const;
    void take_over(WeightStore& former);
    Result<void> reserve();
    Result<void> allocate();
    Result<void> read();

    [[nodiscard]] bool is_streamed(plan::BlockId id) const;
    [[nodiscard]] std::span<const std::byte> at_home(plan::BlockId id, const Piece& piece) const;
    Result<void> bring(plan::BlockId id, std::span<std::byte> slot) const;

    std::shared_ptr<const formats::Reader> reader_;
    plan::BlockTable table_;
    plan::Plan plan_;
    device::Ledger* ledger_;
    device::Transfers* transfers_;
    unsigned reading_threads_;
    std::optional<device::DeviceSet> own_devices_;
    std::unique_ptr<device::Transfers> own_transfers_;
    Layout layout_;
    std::vector<Room> rooms_;  ///< one per segment of the layout
    device::Reservation ring_reservation_;
    device::Reservation in_file_;  ///< of blocks that stay on disk: for reports
    std::unique_ptr<Ring> ring_;   ///< null if nothing is streamed
    bool is_complete_ = false;
    Bytes taken_over_;
    mutable std::atomic<std::size_t> pins_{0};
};

}  // namespace ballast::weights
