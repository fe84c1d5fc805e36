#include "tests/fakes/far/far_device.hpp"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <cstring>

namespace ballast::testing::far {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

constexpr auto kFar = c10::kPrivateUse1;

/// The device and the streams that a thread uses.
struct Current {
    DeviceIndex device = 0;
    std::array<c10::StreamId, kDevices> streams{};
};
Current& current() {
    thread_local Current current;
    return current;
}

std::size_t slot(DeviceIndex device) { return static_cast<std::size_t>(device); }

Stream stream_of(DeviceIndex device, c10::StreamId id) {
    return Stream(Stream::UNSAFE, Device(kFar, device), id);
}

class FarGuard final : public c10::impl::DeviceGuardImplInterface {
public:
    c10::DeviceType type() const override { return kFar; }
    DeviceIndex deviceCount() const noexcept override { return kDevices; }
    Device getDevice() const override { return {kFar, current().device}; }
    Device exchangeDevice(Device device) const override {
        const auto former = getDevice();
        setDevice(device);
        return former;
    }
    void setDevice(Device device) const override {
        TORCH_CHECK(device.index() >= 0 && device.index() < kDevices, "no such far device");
        current().device = device.index();
    }
    void uncheckedSetDevice(Device device) const noexcept override {
        current().device = device.index();
    }

    Stream getStream(Device device) const override { return current_stream(device.index()); }
    Stream getDefaultStream(Device device) const override { return stream_of(device.index(), 0); }
    Stream getStreamFromGlobalPool(Device device, bool) const override {
        return stream_of(device.index(), streams().next_of_pool());
    }
    Stream exchangeStream(Stream stream) const override {
        const auto former = current_stream(stream.device_index());
        current().streams[slot(stream.device_index())] = stream.id();
        return former;
    }
    bool queryStream(const Stream& stream) const override {
        return streams().is_done(streams().mark(stream));
    }
    void synchronizeStream(const Stream& stream) const override { streams().run(stream); }
    void synchronizeDevice(const DeviceIndex device) const override {
        streams().run_device(device);
    }

    void record(void** event, const Stream& stream, const DeviceIndex,
                const c10::EventFlag) const override {
        if (*event == nullptr) *event = new Mark;
        *static_cast<Mark*>(*event) = streams().mark(stream);
    }
    void block(void* event, const Stream& stream) const override {
        streams().order(stream, *static_cast<Mark*>(event));
    }
    bool queryEvent(void* event) const override {
        return streams().is_done(*static_cast<Mark*>(event));
    }
    void synchronizeEvent(void* event) const override { streams().run(*static_cast<Mark*>(event)); }
    void destroyEvent(void* event, const DeviceIndex) const noexcept override {
        delete static_cast<Mark*>(event);
    }
};

class FarAllocator final : public c10::DeviceAllocator {
public:
    c10::DataPtr allocate(std::size_t size) override {
        const auto device = current().device;
        if (size == 0) return {nullptr, nullptr, &drop, Device(kFar, device)};
        streams().check(device);
        auto* address = memory(device).allocate(size);
        TORCH_CHECK_WITH(OutOfMemoryError, address != nullptr, "no room for ", size,
                         " bytes on far device ", static_cast<int>(device));
        return {address, address, &drop, Device(kFar, device)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &drop; }
    void copy_data(void*, const void*, std::size_t) const override {
        TORCH_CHECK(false, "the host copies nothing here");
    }

    bool initialized() override { return true; }
    void emptyCache(c10::MempoolId_t) override { streams().check(current().device); }
    void recordStream(const c10::DataPtr&, Stream) override {}
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex device) override {
        c10::CachingDeviceAllocator::DeviceStats stats;
        stats.allocated_bytes[0].increase(memory(device).used());
        stats.reserved_bytes[0].increase(memory(device).used());
        return stats;
    }
    void resetAccumulatedStats(DeviceIndex) override {}
    void resetPeakStats(DeviceIndex) override {}
    std::pair<std::size_t, std::size_t> getMemoryInfo(DeviceIndex device) override {
        streams().check(device);
        return {kCapacity - memory(device).used(), kCapacity};
    }

private:
    static void drop(void* address) {
        for (DeviceIndex device = 0; device < kDevices; ++device)
            if (memory(device).holds(address))
                memory(device).give_back(static_cast<std::byte*>(address));
    }
};

class FarHooks final : public at::PrivateUse1HooksInterface {
public:
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(DeviceIndex) const override { return true; }
    DeviceIndex deviceCount() const override { return kDevices; }
    Device getDeviceFromPtr(void* data) const override {
        for (DeviceIndex device = 0; device < kDevices; ++device)
            if (memory(device).holds(data)) return {kFar, device};
        TORCH_CHECK(false, "not an address of a far device");
    }
};

/// torch keeps the pointers for as long as the process lives.
const bool is_registered = [] {
    c10::impl::registerDeviceGuard(kFar, new FarGuard);
    c10::SetAllocator(kFar, new FarAllocator);
    at::RegisterPrivateUse1HooksInterface(new FarHooks);
    return true;
}();

}  // namespace

FarMemory& memory(DeviceIndex device) {
    static std::array<FarMemory*, kDevices> memories{new FarMemory(kCapacity),
                                                     new FarMemory(kCapacity)};
    return *memories[slot(device)];
}

FarStreams& streams() {
    static auto* const streams = new FarStreams;
    return *streams;
}

Stream current_stream(DeviceIndex device) {
    const auto index = device < 0 ? current().device : device;
    return stream_of(index, current().streams[slot(index)]);
}

}  // namespace ballast::testing::far
