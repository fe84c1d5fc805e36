#include "ballast/runtime/tensor/torch_device.hpp"

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "ballast/runtime/tensor/device_names.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/reserved_addresses.hpp"
#include "ballast/runtime/tensor/types.hpp"

namespace ballast::runtime {
namespace {

using device::Event;
using device::Memory;
using device::MemoryState;
using device::Source;
using device::Stream;
using device::Target;

/// What the allocators take from a driver at once, as far as it is known.
Bytes granularity_of(c10::DeviceType type) {
    switch (type) {
        case c10::kCUDA:
        case c10::kXPU: return Bytes{std::uint64_t{2} << 20U};
        case c10::kMPS: return Bytes{std::uint64_t{16} << 10U};
        default: return Bytes{512};
    }
}

/// A stream of its own if the device type has a pool of them, else the one in use.
c10::Stream new_stream(c10::Device where) {
    const c10::impl::VirtualGuardImpl guard(where.type());
    try {
        return guard.getStreamFromGlobalPool(where);
    } catch (const c10::Error&) {
        return guard.getStream(where);
    }
}

class TorchEvent final : public Event::State {
public:
    explicit TorchEvent(const c10::Stream& stream) : event_(stream.device_type()) {
        event_.record(stream);
    }

    [[nodiscard]] bool is_reached() override {
        // what failed will not go on; `wait` tells what it was
        return guarded("ask", [this] { return event_.query(); }).value_or(true);
    }
    Result<void> wait() override {
        return guarded("cannot wait for a device", [this] { event_.synchronize(); });
    }
    [[nodiscard]] bool orders(const c10::Stream& stream) const {
        return event_.device_type() == stream.device_type();
    }
    void block(const c10::Stream& stream) const { event_.block(stream); }

private:
    c10::Event event_;
};

class TorchDevice final : public device::Device {
public:
    TorchDevice(c10::Device where, DeviceId id)
        : where_(where),
          id_(id),
          guard_(where.type()),
          granularity_(granularity_of(where.type())) {}

    [[nodiscard]] c10::Device where() const { return where_; }
    /// The calling thread's.
    [[nodiscard]] c10::Stream current_stream() const { return guard_.getStream(where_); }

    [[nodiscard]] DeviceId id() const override { return id_; }
    [[nodiscard]] Bytes granularity() const override { return granularity_; }
    [[nodiscard]] bool is_host_accessible() const override { return false; }
    [[nodiscard]] bool reaches(DeviceId peer) const override { return peer == id_ || peer == kCpu; }

    [[nodiscard]] bool is_awake() const override { return is_awake_.load(); }

    [[nodiscard]] MemoryState memory() const override {
        if (!is_awake()) return {};
        MemoryState state{.held = Bytes{held_.load()}};
        // an allocator that does not say one of them may still say the other
        static_cast<void>(guarded("ask for memory", [&] {
            const auto [free, total] = statistics().getMemoryInfo(where_.index());
            state.free = Bytes{free};
            state.total = Bytes{total};
        }));
        static_cast<void>(guarded("ask for memory", [&] {
            const auto stats = statistics().getDeviceStats(where_.index());
            constexpr auto kAll =
                static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
            const auto unused =
                stats.reserved_bytes[kAll].current - stats.allocated_bytes[kAll].current;
            if (unused > 0) state.cached = Bytes{static_cast<std::uint64_t>(unused)};
        }));
        return state;
    }

    Result<Memory> allocate(Bytes size) override {
        if (size.is_zero()) return Memory{};
        auto taken = guarded("cannot allocate", [&] { return take(size.count()); });
        if (taken) return hand_out(*taken, size.count());
        auto error = std::move(taken).error();
        if (error.code == Code::out_of_memory) {
            const auto now = memory();
            error.hint = "use a smaller model or picture, or close other programs that use " +
                         to_string(id_);
            error.shortfall = {{id_,
                                {.needed = size.count(),
                                 .available = (now.free.value_or(Bytes{}) + now.cached).count()}}};
        }
        return fail(std::move(error));
    }

    Result<std::unique_ptr<Stream>> open_stream() override;

    Result<void> synchronise() override {
        if (!is_awake()) return {};
        return guarded("cannot wait for " + to_string(id_),
                       [this] { guard_.synchronizeDevice(where_.index()); });
    }

    Result<Bytes> empty_cache() override {
        if (!is_awake()) return Bytes{};
        const auto before = memory().cached;
        return guarded("cannot empty the cache of " + to_string(id_), [&] {
            // drivers free under the current device, and would wake it for that
            const c10::DeviceGuard guard(where_);
            statistics().emptyCache();
            return before.minus_or_zero(memory().cached);
        });
    }

    /// A tensor over bytes of ours.
    [[nodiscard]] at::Tensor over(std::span<const std::byte> bytes, at::ScalarType type,
                                  at::IntArrayRef shape) const {
        const auto [data, offset] = bytes.empty() ? Place{} : place_of(bytes);
        return at::for_blob(data, shape)
            .storage_offset(static_cast<std::int64_t>(offset / c10::elementSize(type)))
            .options(at::TensorOptions(type).device(where_))
            .target_device(where_)
            .make_tensor();
    }

private:
    struct Block {
        c10::DataPtr data;
        ReservedAddresses addresses;  // for device types whose pointers are no addresses
        std::size_t size;
    };

    /// What a tensor begins with, and bytes from there.
    struct Place {
        void* data = nullptr;
        std::size_t offset = 0;
    };
    [[nodiscard]] Place place_of(std::span<const std::byte> bytes) const {
        const std::scoped_lock lock(mutex_);
        if (auto block = blocks_.upper_bound(bytes.data()); block != blocks_.begin()) {
            --block;
            const auto offset = static_cast<std::size_t>(bytes.data() - block->first);
            const auto size = block->second.size;
            if (offset < size && bytes.size() <= size - offset)
                return {block->second.data.get(), offset};
        }
        throw Failure(Error{.code = Code::internal,
                            .what = "cannot use memory of " + to_string(id_),
                            .why = "it was not allocated there",
                            .hint = "report this as a fault of Ballast"});
    }

    /// Wakes the device. One that cannot be woken counts as asleep: there is nothing to tidy up.
    void prepare() const {
        std::call_once(is_prepared_, [this] {
            at::globalContext().lazyInitDevice(where_.type());
            memory_stream_ = new_stream(where_);
            is_awake_ = true;
        });
    }

    [[nodiscard]] c10::DeviceAllocator& statistics() const {
        prepare();
        return *c10::getDeviceAllocator(where_.type());
    }

    std::byte* take(std::size_t size) {
        prepare();
        Block block{.data = {}, .addresses = {}, .size = size};
        {
            // allocators give memory back to the stream that asked for it while kernels of that
            // stream may still use it; copy streams would write there too early. Our own stream has
            // no kernels.
            const c10::StreamGuard guard(memory_stream_.value());
            block.data = c10::GetAllocator(where_.type())->allocate(size);
        }
        // a tensor of mps holds a buffer's handle where others hold an address
        if (where_.type() == c10::kMPS) block.addresses = ReservedAddresses(size);
        auto* address = where_.type() == c10::kMPS ? block.addresses.begin()
                                                   : static_cast<std::byte*>(block.data.get());
        const std::scoped_lock lock(mutex_);
        blocks_.emplace(address, std::move(block));
        held_ += rounded(size);
        return address;
    }

    void give_back(std::byte* data, std::size_t size) noexcept override {
        // nothing is busy on a device that fails here
        static_cast<void>(guarded("wait", [this] { guard_.synchronizeDevice(where_.index()); }));
        const std::scoped_lock lock(mutex_);
        blocks_.erase(data);
        held_ -= rounded(size);
    }

    [[nodiscard]] std::uint64_t rounded(std::size_t size) const {
        const auto unit = granularity_.count();
        return (size + unit - 1) / unit * unit;
    }

    c10::Device where_;
    DeviceId id_;
    c10::impl::VirtualGuardImpl guard_;
    Bytes granularity_;
    mutable std::once_flag is_prepared_;
    mutable std::atomic<bool> is_awake_{false};
    mutable std::optional<c10::Stream> memory_stream_;
    std::atomic<std::uint64_t> held_{0};
    mutable std::mutex mutex_;
    std::map<const std::byte*, Block> blocks_;  // by first address
};

class TorchStream final : public Stream {
public:
    TorchStream(std::shared_ptr<const TorchDevice> device, c10::Stream stream)
        : device_(std::move(device)), stream_(stream) {}
    ~TorchStream() override { static_cast<void>(finish()); }

    Result<void> copy(Target to, Source from) override {
        if (auto refusal = impossible_copy(*device_, to, from)) return fail(*std::move(refusal));
        if (to.bytes.empty()) return {};
        return guarded("cannot copy", [&] {
            const auto target = bytes_of(to.device, to.bytes);
            const auto source = bytes_of(from.device, from.bytes);
            const c10::StreamGuard guard(stream_);
            target.copy_(source, true);
        });
    }
    Result<Event> record() override {
        return guarded("cannot record an event",
                       [this] { return Event{std::make_shared<TorchEvent>(stream_)}; });
    }
    Result<void> wait(const Event& event) override {
        const auto* known = dynamic_cast<const TorchEvent*>(&event.state());
        if (known == nullptr || !known->orders(stream_)) return event.wait();
        return guarded("cannot wait for an event", [&] { known->block(stream_); });
    }
    Result<void> finish() override {
        return guarded("cannot finish copies", [this] { stream_.synchronize(); });
    }

private:
    [[nodiscard]] at::Tensor bytes_of(DeviceId where, std::span<const std::byte> bytes) const {
        const auto size = static_cast<std::int64_t>(bytes.size());
        if (where == kCpu) return view_of(bytes, at::kByte, {size});
        return device_->over(bytes, at::kByte, {size});
    }

    std::shared_ptr<const TorchDevice> device_;
    c10::Stream stream_;
};

Result<std::unique_ptr<Stream>> TorchDevice::open_stream() {
    return guarded("cannot open a stream", [this]() -> std::unique_ptr<Stream> {
        prepare();
        auto self = std::static_pointer_cast<const TorchDevice>(shared_from_this());
        return std::make_unique<TorchStream>(std::move(self), new_stream(where_));
    });
}

}  // namespace

std::vector<std::shared_ptr<device::Device>> torch_devices() {
    std::vector<std::shared_ptr<device::Device>> devices;
    for (const auto type : {c10::kCUDA, c10::kXPU, c10::kMPS, c10::kPrivateUse1}) {
        if (!c10::impl::hasDeviceGuardImpl(type)) continue;
        const auto count = c10::impl::VirtualGuardImpl(type).deviceCount();
        for (c10::DeviceIndex index = 0; index < count; ++index) {
            const c10::Device where(type, index);
            if (const auto id = device_id(where))
                devices.push_back(std::make_shared<TorchDevice>(where, *id));
        }
    }
    return devices;
}

at::Device tensor_device(const device::Device& device) {
    const auto* known = dynamic_cast<const TorchDevice*>(&device);
    return known == nullptr ? at::Device(at::kCPU) : known->where();
}

void finish_arithmetic(const device::Device& device) {
    if (const auto* known = dynamic_cast<const TorchDevice*>(&device))
        known->current_stream().synchronize();
}

at::Tensor view_on(const device::Device& device, std::span<const std::byte> bytes,
                   at::ScalarType type, at::IntArrayRef shape) {
    const auto* known = dynamic_cast<const TorchDevice*>(&device);
    return known == nullptr ? view_of(bytes, type, shape) : known->over(bytes, type, shape);
}

}  // namespace ballast::runtime
