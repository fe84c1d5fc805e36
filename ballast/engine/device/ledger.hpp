#pragma once
// Who holds how many bytes where.
//
// Every allocation in Ballast is preceded by a reservation here, so limits hold at every instant
// and reports can be exact. Thread-safe; reservations may be released from any thread.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"

namespace ballast::device {

/// What bytes are held for. Sums per tag appear in every report.
enum class Tag {
    weights,
    backup,
    ring,
    widened,
    scratch,
    staging,
    activations,
    results,
    simulation,  ///< what the host holds for simulated devices: told, but in no sum and no limit
};
inline constexpr std::size_t kTags = 9;
std::string_view to_string(Tag tag);

struct TagUse {
    Bytes now;
    Bytes peak;
};

/// One device at one instant, without what the host holds for simulated devices. `peak` is the
/// largest sum ever held at once, not a sum of peaks.
struct DeviceUse {
    Bytes now;
    Bytes peak;
    std::optional<Bytes> limit;
    std::array<TagUse, kTags> by_tag{};

    [[nodiscard]] const TagUse& tag(Tag which) const {
        return by_tag[static_cast<std::size_t>(which)];
    }
};

using LedgerSnapshot = std::map<DeviceId, DeviceUse>;

class Ledger;

/// Right to hold `bytes()` on one device. Move-only: releasing is what the destructor does.
class [[nodiscard]] Reservation {
public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();

    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] DeviceId device() const { return device_; }

    /// Gives the bytes back now.
    void release();

private:
    friend class Ledger;
    Reservation(Ledger* ledger, DeviceId device, Tag tag, Bytes bytes)
        : ledger_(ledger), device_(device), tag_(tag), bytes_(bytes) {}

    Ledger* ledger_ = nullptr;
    DeviceId device_;
    Tag tag_ = Tag::scratch;
    Bytes bytes_;
};

/// The account of all devices. Must outlive its reservations.
class Ledger {
public:
    Ledger();
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    ~Ledger();

    /// Grants `bytes` on `device`, or says what is missing: fails with `Code::does_not_fit`
    /// (needed, available, largest holders). Never waits, never evicts.
    Result<Reservation> reserve(DeviceId device, Bytes bytes, Tag tag);

    /// `reserve` without a handle, for allocators that keep the size beside the memory themselves.
    /// True if granted; each grant must be answered by one `give_back` with the same arguments.
    [[nodiscard]] bool try_take(DeviceId device, Bytes bytes, Tag tag) noexcept;
    void give_back(DeviceId device, Bytes bytes, Tag tag) noexcept;

    /// Sets the limit of `device` and returns the former one. A limit below current use is accepted
    /// and makes every further reservation fail until use has fallen.
    std::optional<Bytes> set_limit(DeviceId device, std::optional<Bytes> limit);

    /// The error that a refused `try_take` stands for.
    [[nodiscard]] Error refusal(DeviceId device, Bytes bytes, Tag tag) const;

    [[nodiscard]] LedgerSnapshot snapshot() const;

    /// Starts all peaks anew from what is held now.
    void reset_peaks();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ballast::device
