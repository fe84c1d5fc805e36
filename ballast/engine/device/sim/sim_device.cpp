#include "ballast/engine/device/sim/sim_device.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <mutex>

#include "ballast/engine/device/host/mapped_memory.hpp"
#include "ballast/engine/device/sim/block_cache.hpp"

namespace ballast::device::sim {
namespace {

/// Blocks of CUDA's allocator; what a profile that says nothing gets.
constexpr Bytes kUsualGranularity{512};

class Moment final : public Event::State {
public:
    Moment(std::shared_ptr<Bus> bus, std::shared_ptr<Queue> queue)
        : bus_(std::move(bus)),
          queue_(std::move(queue)),
          when_(bus_->ready(*queue_)),
          count_(bus_->queued(*queue_)) {}

    [[nodiscard]] bool is_reached() override { return bus_->is_done(*queue_, count_); }
    Result<void> wait() override { return bus_->wait(*queue_, count_, when_); }

    [[nodiscard]] Nanoseconds when() const { return when_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const std::shared_ptr<Queue>& queue() const { return queue_; }

private:
    std::shared_ptr<Bus> bus_;
    std::shared_ptr<Queue> queue_;
    Nanoseconds when_;
    std::uint64_t count_;
};

class SimStream final : public Stream {
public:
    SimStream(std::shared_ptr<Device> device, std::shared_ptr<Bus> bus)
        : device_(std::move(device)), bus_(std::move(bus)), queue_(bus_->open(device_->id())) {}
    ~SimStream() override { static_cast<void>(finish()); }

    Result<void> copy(Target to, Source from) override {
        if (auto refusal = impossible_copy(*device_, to, from)) return fail(*std::move(refusal));
        return bus_->copy(queue_, to, from);
    }
    Result<Event> record() override { return Event{std::make_shared<Moment>(bus_, queue_)}; }
    Result<void> wait(const Event& event) override {
        const auto* moment = dynamic_cast<const Moment*>(&event.state());
        if (moment == nullptr) return event.wait();  // of the host: it has been reached
        if (moment->queue() != queue_)
            bus_->order(*queue_, moment->queue(), moment->count(), moment->when());
        return {};
    }
    Result<void> finish() override {
        return bus_->wait(*queue_, bus_->queued(*queue_), bus_->ready(*queue_));
    }

private:
    std::shared_ptr<Device> device_;
    std::shared_ptr<Bus> bus_;
    std::shared_ptr<Queue> queue_;
};

class SimDevice final : public Device {
public:
    SimDevice(const machine::DeviceProfile& profile, std::shared_ptr<Bus> bus, Ledger* ledger)
        : id_(profile.id),
          total_(profile.total),
          capacity_(profile.free.value_or(
              profile.total.value_or(Bytes{std::numeric_limits<std::uint64_t>::max()}))),
          granularity_(profile.granularity.value_or(kUsualGranularity)),
          bus_(std::move(bus)),
          ledger_(ledger) {
        if (granularity_.is_zero()) granularity_ = Bytes{1};
    }

    [[nodiscard]] DeviceId id() const override { return id_; }
    [[nodiscard]] Bytes granularity() const override { return granularity_; }
    [[nodiscard]] bool is_host_accessible() const override { return false; }
    [[nodiscard]] bool reaches(DeviceId peer) const override {
        return peer == id_ || peer == kCpu || bus_->is_peer(peer, id_);
    }
    [[nodiscard]] MemoryState memory() const override {
        const std::scoped_lock lock(mutex_);
        return {.total = total_,
                .free = capacity_.minus_or_zero(held_ + cache_.bytes()),
                .held = held_,
                .cached = cache_.bytes()};
    }
    [[nodiscard]] bool is_awake() const override { return is_awake_.load(); }

    Result<Memory> allocate(Bytes size) override {
        if (!size.is_zero()) {
            is_awake_ = true;
            bus_->count_call(id_);
        }
        if (auto allowed = bus_->allow_allocation(id_); !allowed)
            return fail(std::move(allowed).error());
        if (size.is_zero()) return Memory{};
        if (!take(rounded(size))) return fail(full(rounded(size)));
        const std::size_t count = size.count();
        std::byte* data = map_memory(count);
        if (data == nullptr) {
            give(rounded(size));
            return fail(
                Error{.code = Code::out_of_memory,
                      .what = fmt::format("cannot simulate {}", to_string(id_)),
                      .why = fmt::format("the system refused {} of memory", to_string(size)),
                      .hint = "simulate on a machine with more memory"});
        }
        // what a simulation holds has no limit: it is always granted
        if (ledger_ != nullptr) static_cast<void>(ledger_->try_take(kCpu, size, Tag::simulation));
        return hand_out(data, count);
    }

    Result<std::unique_ptr<Stream>> open_stream() override {
        is_awake_ = true;
        return std::make_unique<SimStream>(shared_from_this(), bus_);
    }
    Result<void> synchronise() override {
        if (!is_awake()) return {};
        return bus_->finish(id_);
    }
    Result<Bytes> empty_cache() override {
        if (!is_awake()) return Bytes{};
        if (auto allowed = bus_->allow_emptying(id_); !allowed)
            return fail(std::move(allowed).error());
        const std::scoped_lock lock(mutex_);
        return cache_.release();
    }

private:
    [[nodiscard]] Bytes rounded(Bytes size) const {
        const auto step = granularity_.count();
        return Bytes{(size.count() - 1) / step + 1}.times(step);
    }
    bool take(Bytes bytes) {
        const std::scoped_lock lock(mutex_);
        if (!cache_.reuse(bytes)) {
            if (held_ + cache_.bytes() + bytes > capacity_) cache_.release();
            if (held_ + bytes > capacity_) return false;
        }
        held_ += bytes;
        return true;
    }
    void give(Bytes bytes) {
        const bool is_kept = bus_->keeps_cache(id_);
        const std::scoped_lock lock(mutex_);
        held_ = held_.minus_or_zero(bytes);
        if (is_kept) cache_.keep(bytes);
    }
    [[nodiscard]] Error full(Bytes bytes) const {
        const auto left = memory().free.value_or(Bytes{});
        Error error{.code = Code::out_of_memory,
                    .what = fmt::format("cannot allocate on {}", to_string(id_)),
                    .why = fmt::format("needed {}, free {}", to_string(bytes), to_string(left)),
                    .hint = "place less there"};
        error.shortfall = {{id_, {.needed = bytes.count(), .available = left.count()}}};
        return error;
    }
    void give_back(std::byte* data, std::size_t size) noexcept override {
        bus_->count_call(id_);
        bus_->settle({data, size});
        unmap_memory(data, size);
        if (ledger_ != nullptr) ledger_->give_back(kCpu, Bytes{size}, Tag::simulation);
        give(rounded(Bytes{size}));
    }

    DeviceId id_;
    std::optional<Bytes> total_;
    Bytes capacity_;
    Bytes granularity_;
    std::shared_ptr<Bus> bus_;
    Ledger* ledger_;
    mutable std::mutex mutex_;
    Bytes held_{};
    BlockCache cache_;
    std::atomic<bool> is_awake_{false};
};

}  // namespace

std::shared_ptr<Device> make_sim_device(const machine::DeviceProfile& profile,
                                        std::shared_ptr<Bus> bus, Ledger* ledger) {
    return std::make_shared<SimDevice>(profile, std::move(bus), ledger);
}

}  // namespace ballast::device::sim
