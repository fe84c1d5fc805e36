#pragma once
// What every device must do, as one suite of tests. A program that has a device to show includes
// this and instantiates `DeviceBehaviour` with ways to make it.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/device/host/host_device.hpp"

namespace ballast::device {

/// A machine with the device under test, and what keeps it alive.
struct DeviceUnderTest {
    std::shared_ptr<void> machine{};
    std::shared_ptr<Device> device{};
};

struct DeviceCase {
    std::string name;
    std::function<DeviceUnderTest()> make;
};

inline void PrintTo(const DeviceCase& device, std::ostream* out) { *out << device.name; }

class DeviceBehaviour : public ::testing::TestWithParam<DeviceCase> {
protected:
    Device& device() { return *made_.device; }

    static std::vector<std::byte> pattern(std::size_t size, unsigned seed = 0) {
        std::vector<std::byte> bytes(size);
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = static_cast<std::byte>((i * 7 + seed) % 251);
        return bytes;
    }
    Target on_device(const Memory& memory, std::size_t from, std::size_t size) {
        return {device().id(), {memory.data() + from, size}};
    }
    Source off_device(const Memory& memory, std::size_t from, std::size_t size) {
        return {device().id(), {memory.data() + from, size}};
    }

private:
    DeviceUnderTest made_ = GetParam().make();
};

TEST_P(DeviceBehaviour, GivesBackTheBytesThatWereCopiedThere) {
    const auto sent = pattern(1'000'003);
    std::vector<std::byte> back(sent.size());
    const auto memory = device().allocate(Bytes{sent.size()});
    ASSERT_TRUE(memory.has_value());
    const auto stream = device().open_stream();
    ASSERT_TRUE(stream.has_value());
    ASSERT_TRUE((*stream)->copy(on_device(*memory, 0, sent.size()), {kCpu, sent}));
    ASSERT_TRUE((*stream)->copy({kCpu, back}, off_device(*memory, 0, sent.size())));
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(back, sent);
}

TEST_P(DeviceBehaviour, CopiesInTheOrderOfTheStream) {
    const auto first = pattern(4096, 1);
    const auto second = pattern(4096, 2);
    std::vector<std::byte> back(4096);
    const auto memory = device().allocate(Bytes{2 * 4096});
    ASSERT_TRUE(memory.has_value());
    const auto stream = device().open_stream();
    ASSERT_TRUE(stream.has_value());
    ASSERT_TRUE((*stream)->copy(on_device(*memory, 0, 4096), {kCpu, first}));
    ASSERT_TRUE((*stream)->copy(on_device(*memory, 4096, 4096), off_device(*memory, 0, 4096)));
    ASSERT_TRUE((*stream)->copy(on_device(*memory, 0, 4096), {kCpu, second}));
    ASSERT_TRUE((*stream)->copy({kCpu, back}, off_device(*memory, 4096, 4096)));
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(back, first) << "what was there before the second copy came";
}

TEST_P(DeviceBehaviour, EventsAreReachedWhenTheirCopiesAreDone) {
    const auto sent = pattern(1 << 20);
    std::vector<std::byte> back(sent.size());
    const auto memory = device().allocate(Bytes{sent.size()});
    ASSERT_TRUE(memory.has_value());
    const auto stream = device().open_stream();
    ASSERT_TRUE(stream.has_value());
    ASSERT_TRUE((*stream)->copy(on_device(*memory, 0, sent.size()), {kCpu, sent}));
    ASSERT_TRUE((*stream)->copy({kCpu, back}, off_device(*memory, 0, sent.size())));
    const auto event = (*stream)->record();
    ASSERT_TRUE(event.has_value());
    ASSERT_TRUE(event->wait());
    EXPECT_TRUE(event->is_reached());
    EXPECT_EQ(back, sent);
    EXPECT_TRUE(event->wait()) << "a second wait returns at once";
}

TEST_P(DeviceBehaviour, AStreamWaitsForAnother) {
    const auto sent = pattern(1 << 20);
    std::vector<std::byte> back(sent.size());
    const auto memory = device().allocate(Bytes{sent.size()});
    ASSERT_TRUE(memory.has_value());
    const auto writer = device().open_stream();
    const auto reader = device().open_stream();
    ASSERT_TRUE(writer.has_value() && reader.has_value());
    ASSERT_TRUE((*writer)->copy(on_device(*memory, 0, sent.size()), {kCpu, sent}));
    const auto written = (*writer)->record();
    ASSERT_TRUE(written.has_value());
    ASSERT_TRUE((*reader)->wait(*written));
    ASSERT_TRUE((*reader)->copy({kCpu, back}, off_device(*memory, 0, sent.size())));
    ASSERT_TRUE((*reader)->finish());
    EXPECT_EQ(back, sent);
}

TEST_P(DeviceBehaviour, WaitsForEventsOfTheHost) {
    const auto host = make_host_device();
    const auto on_host = host->open_stream();
    const auto stream = device().open_stream();
    ASSERT_TRUE(on_host.has_value() && stream.has_value());
    const auto event = (*on_host)->record();
    ASSERT_TRUE(event.has_value());
    EXPECT_TRUE((*stream)->wait(*event));
    EXPECT_TRUE((*stream)->finish());
}

TEST_P(DeviceBehaviour, HandsOutAlignedMemoryAndTakesItBack) {
    const auto before = device().memory().held;
    {
        const auto one = device().allocate(Bytes{1});
        const auto many = device().allocate(Bytes{100'000});
        ASSERT_TRUE(one.has_value() && many.has_value());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one->data()) % 64, 0U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(many->data()) % 64, 0U);
        EXPECT_EQ(many->size(), 100'000U);
        EXPECT_GE(device().memory().held, before + Bytes{100'001});
    }
    EXPECT_TRUE(device().empty_cache());
    EXPECT_EQ(device().memory().held, before);
}

TEST_P(DeviceBehaviour, AllocatesNothingWhenNothingIsAskedFor) {
    const auto before = device().memory().held;
    const auto memory = device().allocate(Bytes{});
    ASSERT_TRUE(memory.has_value());
    EXPECT_EQ(memory->size(), 0U);
    EXPECT_EQ(memory->data(), nullptr);
    EXPECT_EQ(device().memory().held, before);
}

TEST_P(DeviceBehaviour, RefusesMoreThanAnyMachineHas) {
    const auto memory = device().allocate(Bytes{std::uint64_t{1} << 46U});
    ASSERT_FALSE(memory.has_value());
    EXPECT_EQ(memory.error().code, Code::out_of_memory);
    EXPECT_FALSE(memory.error().hint.empty());
    EXPECT_TRUE(device().allocate(Bytes{4096}).has_value()) << "and is as usable as before";
}

TEST_P(DeviceBehaviour, KeepsMemoryWhenItsHandleMoves) {
    const auto sent = pattern(4096);
    std::vector<std::byte> back(4096);
    auto first = device().allocate(Bytes{4096});
    ASSERT_TRUE(first.has_value());
    const auto stream = device().open_stream();
    ASSERT_TRUE(stream.has_value());
    ASSERT_TRUE((*stream)->copy(on_device(*first, 0, 4096), {kCpu, sent}));
    const Memory second = *std::move(first);
    ASSERT_TRUE((*stream)->copy({kCpu, back}, off_device(second, 0, 4096)));
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(back, sent);
}

TEST_P(DeviceBehaviour, RefusesCopiesThatAreNotItsOwn) {
    const auto sent = pattern(64);
    std::vector<std::byte> back(64);
    const auto memory = device().allocate(Bytes{64});
    const auto stream = device().open_stream();
    ASSERT_TRUE(memory.has_value() && stream.has_value());
    const auto unequal = (*stream)->copy(on_device(*memory, 0, 63), {kCpu, sent});
    ASSERT_FALSE(unequal.has_value());
    EXPECT_EQ(unequal.error().code, Code::internal);
    const DeviceId stranger{DeviceKind::npu, 77};
    EXPECT_FALSE((*stream)->copy({stranger, back}, {kCpu, sent}).has_value());
    EXPECT_FALSE((*stream)->copy(on_device(*memory, 0, 64), {stranger, sent}).has_value());
    EXPECT_TRUE((*stream)->finish()) << "nothing was queued";
}

TEST_P(DeviceBehaviour, IsNotWokenByLookingWaitingOrTidyingUp) {
    const bool was_awake = device().is_awake();
    const auto looked_at = device().memory();
    EXPECT_TRUE(was_awake || (looked_at.held + looked_at.cached).is_zero());
    EXPECT_GT(device().granularity(), Bytes{});
    EXPECT_TRUE(device().reaches(kCpu));
    static_cast<void>(device().is_host_accessible());
    EXPECT_TRUE(device().allocate(Bytes{}).has_value());
    EXPECT_TRUE(device().synchronise());
    const auto emptied = device().empty_cache();
    ASSERT_TRUE(emptied.has_value());
    EXPECT_TRUE(was_awake || emptied->is_zero());
    EXPECT_EQ(device().is_awake(), was_awake);
}

TEST_P(DeviceBehaviour, IsAwakeOnceMemoryWasAskedForAndStaysSo) {
    ASSERT_TRUE(device().allocate(Bytes{4096}).has_value());
    EXPECT_TRUE(device().is_awake());
}

TEST_P(DeviceBehaviour, IsAwakeOnceAStreamWasAskedForAndStaysSo) {
    ASSERT_TRUE(device().open_stream().has_value());
    EXPECT_TRUE(device().is_awake());
}

TEST_P(DeviceBehaviour, SynchronisingFinishesAllStreams) {
    const auto sent = pattern(1 << 20);
    std::vector<std::byte> back(sent.size());
    const auto memory = device().allocate(Bytes{2 * sent.size()});
    const auto first = device().open_stream();
    const auto second = device().open_stream();
    ASSERT_TRUE(memory.has_value() && first.has_value() && second.has_value());
    ASSERT_TRUE((*first)->copy(on_device(*memory, 0, sent.size()), {kCpu, sent}));
    ASSERT_TRUE((*first)->copy({kCpu, back}, off_device(*memory, 0, sent.size())));
    ASSERT_TRUE((*second)->copy(on_device(*memory, sent.size(), sent.size()), {kCpu, sent}));
    const auto queued = (*second)->record();
    ASSERT_TRUE(queued.has_value());
    ASSERT_TRUE(device().synchronise());
    EXPECT_EQ(back, sent);
    EXPECT_TRUE(queued->is_reached());
    EXPECT_TRUE(device().synchronise()) << "a second time there is nothing to wait for";
}

TEST_P(DeviceBehaviour, EmptyingItsCacheTouchesNothingThatIsHeld) {
    const auto sent = pattern(100'000);
    std::vector<std::byte> back(sent.size());
    const auto memory = device().allocate(Bytes{sent.size()});
    const auto stream = device().open_stream();
    ASSERT_TRUE(memory.has_value() && stream.has_value());
    ASSERT_TRUE((*stream)->copy(on_device(*memory, 0, sent.size()), {kCpu, sent}));
    ASSERT_TRUE(device().allocate(Bytes{8 * sent.size()}).has_value()) << "and given back";
    const auto held = device().memory().held;
    const auto cached = device().memory().cached;
    ASSERT_TRUE(device().synchronise());
    const auto emptied = device().empty_cache();
    ASSERT_TRUE(emptied.has_value());
    EXPECT_EQ(*emptied + device().memory().cached, cached);
    EXPECT_EQ(device().memory().held, held);
    EXPECT_EQ(device().empty_cache().value_or(Bytes{1}), Bytes{}) << "nothing is left to release";
    ASSERT_TRUE((*stream)->copy({kCpu, back}, off_device(*memory, 0, sent.size())));
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(back, sent);
}

TEST_P(DeviceBehaviour, FinishesWhatIsQueuedBeforeAStreamOrMemoryGoes) {
    const auto sent = pattern(1 << 20);
    std::vector<std::byte> back(sent.size());
    auto memory = device().allocate(Bytes{sent.size()});
    ASSERT_TRUE(memory.has_value());
    {
        const auto stream = device().open_stream();
        ASSERT_TRUE(stream.has_value());
        ASSERT_TRUE((*stream)->copy(on_device(*memory, 0, sent.size()), {kCpu, sent}));
        ASSERT_TRUE((*stream)->copy({kCpu, back}, off_device(*memory, 0, sent.size())));
        const Memory gone = *std::move(memory);
    }
    EXPECT_EQ(back, sent);
}

}  // namespace ballast::device
