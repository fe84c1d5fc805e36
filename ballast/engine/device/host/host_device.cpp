#include "ballast/engine/device/host/host_device.hpp"

#include <atomic>
#include <cstring>

#include "ballast/engine/device/host/mapped_memory.hpp"

namespace ballast::device {
namespace {

class Reached final : public Event::State {
public:
    [[nodiscard]] bool is_reached() override { return true; }
    Result<void> wait() override { return {}; }
};

class HostStream final : public Stream {
public:
    explicit HostStream(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    Result<void> copy(Target to, Source from) override {
        if (auto refusal = impossible_copy(*device_, to, from)) return fail(*std::move(refusal));
        // ranges of one allocation may overlap
        if (!to.bytes.empty()) std::memmove(to.bytes.data(), from.bytes.data(), to.bytes.size());
        return {};
    }
    Result<Event> record() override { return Event{std::make_shared<Reached>()}; }
    Result<void> wait(const Event& event) override { return event.wait(); }
    Result<void> finish() override { return {}; }

private:
    std::shared_ptr<Device> device_;
};

class HostDevice final : public Device {
public:
    [[nodiscard]] DeviceId id() const override { return kCpu; }
    [[nodiscard]] Bytes granularity() const override { return Bytes{page_size()}; }
    [[nodiscard]] bool is_host_accessible() const override { return true; }
    [[nodiscard]] bool reaches(DeviceId peer) const override { return peer == kCpu; }
    [[nodiscard]] MemoryState memory() const override { return {.held = Bytes{held_.load()}}; }
    [[nodiscard]] bool is_awake() const override { return true; }

    Result<Memory> allocate(Bytes size) override {
        if (size.is_zero()) return Memory{};
        const std::size_t count = size.count();
        std::byte* data = map_memory(count);
        if (data == nullptr) {
            Error error{.code = Code::out_of_memory,
                        .what = "cannot allocate",
                        .why = "the system refused " + to_string(size) + " of memory",
                        .hint = "close other programs, or use a smaller model"};
            error.shortfall = {{kCpu, {.needed = size.count(), .available = 0}}};
            return fail(std::move(error));
        }
        held_ += rounded(count);
        return hand_out(data, count);
    }

    Result<std::unique_ptr<Stream>> open_stream() override {
        return std::make_unique<HostStream>(shared_from_this());
    }
    Result<void> synchronise() override { return {}; }
    Result<Bytes> empty_cache() override { return Bytes{}; }

private:
    static std::uint64_t rounded(std::size_t size) {
        const auto page = page_size();
        return (size + page - 1) / page * page;
    }
    void give_back(std::byte* data, std::size_t size) noexcept override {
        unmap_memory(data, size);
        held_ -= rounded(size);
    }

    std::atomic<std::uint64_t> held_{0};
};

}  // namespace

std::shared_ptr<Device> make_host_device() { return std::make_shared<HostDevice>(); }

}  // namespace ballast::device
