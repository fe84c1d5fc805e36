#pragma once
// What a device must do: hold bytes, copy them in order beside the work of others, signal, and tell
// its memory. One behaviour test suite runs over every implementation.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast::device {

class Device;

/// Bytes on a device, in one piece. Move-only; gives them back when it goes, and keeps its device
/// alive until then.
class [[nodiscard]] Memory {
public:
    Memory() = default;
    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;
    ~Memory();

    [[nodiscard]] std::size_t size() const { return size_; }
    /// Where it begins on the device, aligned to 64. The host may use the address only where
    /// `Device::is_host_accessible`. Null for no bytes.
    [[nodiscard]] std::byte* data() const { return data_; }

private:
    friend class Device;
    Memory(std::shared_ptr<Device> owner, std::byte* data, std::size_t size)
        : owner_(std::move(owner)), data_(data), size_(size) {}

    std::shared_ptr<Device> owner_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Bytes and the device on which they lie.
struct Target {
    DeviceId device{};
    std::span<std::byte> bytes{};
};
struct Source {
    DeviceId device{};
    std::span<const std::byte> bytes{};
};

/// A moment in a stream: reached when everything that was queued before it is done. Copies of an
/// event mean the same moment.
class Event {
public:
    class State {
    public:
        State() = default;
        State(const State&) = delete;
        State& operator=(const State&) = delete;
        virtual ~State() = default;
        [[nodiscard]] virtual bool is_reached() = 0;
        virtual Result<void> wait() = 0;
    };

    explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

    [[nodiscard]] bool is_reached() const { return state_->is_reached(); }
    /// Returns once it is reached; fails with what went wrong before it.
    [[nodiscard]] Result<void> wait() const { return state_->wait(); }
    [[nodiscard]] State& state() const { return *state_; }

private:
    std::shared_ptr<State> state_;
};

/// Copies that a device does one after the other, while the caller goes on. Used by one thread at a
/// time; destroying it finishes what is queued.
class Stream {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    /// Queues a copy of equally many bytes within the stream's device, between it and the host, or
    /// from a peer that it reaches. Host memory stays valid, and the source unchanged, until it is
    /// done; memory of devices waits for copies when it goes. Fails with `internal` (sizes, a
    /// device that is not reached), `device_lost`, or `io`; failures may also be told by a later
    /// call.
    virtual Result<void> copy(Target to, Source from) = 0;

    /// The moment when everything that was queued so far is done.
    virtual Result<Event> record() = 0;

    /// What is queued from now on begins after `event`, also one of another stream or device.
    virtual Result<void> wait(const Event& event) = 0;

    /// Returns when everything is done.
    virtual Result<void> finish() = 0;
};

/// What a device says about its memory; empty: it does not say, or would have to be woken for it.
struct MemoryState {
    std::optional<Bytes> total{};
    std::optional<Bytes> free{};
    Bytes held{};    ///< given out here, rounded up to the granularity
    Bytes cached{};  ///< kept by its allocator for reuse: neither held nor free
};

/// A place that stores bytes. Thread-safe, except for its streams. Owned by shared pointers.
///
/// A device sleeps until it is used: the first allocation or stream wakes it, which may cost memory
/// of its own there, and on a full card fails. Whatever only looks, waits or tidies up leaves a
/// sleeping device alone.
class Device : public std::enable_shared_from_this<Device> {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    [[nodiscard]] virtual DeviceId id() const = 0;
    /// Allocations are rounded up to a multiple of it.
    [[nodiscard]] virtual Bytes granularity() const = 0;
    /// Whether the host may read and write its memory by address.
    [[nodiscard]] virtual bool is_host_accessible() const = 0;
    /// Whether its streams read the memory of `peer` directly. Every device reaches itself and the
    /// host.
    [[nodiscard]] virtual bool reaches(DeviceId peer) const = 0;
    [[nodiscard]] virtual MemoryState memory() const = 0;
    /// Whether this process has done anything there that needs a context of the driver. Stays true.
    [[nodiscard]] virtual bool is_awake() const = 0;

    /// `size` bytes whose content is undefined. Fails with `out_of_memory` (needed, available) or
    /// `device_lost`.
    virtual Result<Memory> allocate(Bytes size) = 0;

    virtual Result<std::unique_ptr<Stream>> open_stream() = 0;

    /// Returns when everything is done that was queued on the device before, by whomever. Fails
    /// with what the device says; what went wrong with a copy is told by its stream.
    virtual Result<void> synchronise() = 0;

    /// Gives what the allocator keeps for reuse back to the system; returns how much that was. The
    /// caller sees to it that nothing uses it any more (`synchronise`). Fails with what the device
    /// says; then part of it may have gone.
    virtual Result<Bytes> empty_cache() = 0;

protected:
    /// For implementations: the handle of what `give_back` takes.
    Memory hand_out(std::byte* data, std::size_t size) { return {shared_from_this(), data, size}; }
    /// Streams may still be busy with it when the call comes; it returns when they are not.
    virtual void give_back(std::byte* data, std::size_t size) noexcept = 0;

private:
    friend class Memory;
};

/// Why a stream of `device` refuses a copy: sizes that differ, or ends that are neither its own,
/// nor the host, nor a source that it reaches. Empty if the copy is possible.
std::optional<Error> impossible_copy(const Device& device, const Target& to, const Source& from);

}  // namespace ballast::device
