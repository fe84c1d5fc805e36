#include "ballast/runtime/tensor/torch_device.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ballast/engine/device/transfers.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/fakes/far/far_device.hpp"
#include "tests/support/device_behaviour.hpp"

namespace ballast::device {
namespace {

DeviceCase far_device(std::size_t index) {
    return {"far_" + std::to_string(index),
            [index] { return DeviceUnderTest{{}, runtime::torch_devices().at(index)}; }};
}

INSTANTIATE_TEST_SUITE_P(Torch, DeviceBehaviour, ::testing::Values(far_device(0), far_device(1)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ballast::device

namespace ballast::runtime {
namespace {

namespace far = ballast::testing::far;
using namespace ballast::literals;
using device::Memory;

constexpr DeviceId kFirst{DeviceKind::privateuseone, 0};
constexpr DeviceId kSecond{DeviceKind::privateuseone, 1};

/// Both devices and the host.
struct TorchDevices : ::testing::Test {
    device::Device& first() { return *set.find(kFirst); }

    static std::vector<std::byte> bytes(std::size_t size, int value) {
        return std::vector<std::byte>(size, static_cast<std::byte>(value));
    }
    static std::span<std::byte> all_of(const Memory& memory) {
        return {memory.data(), memory.size()};
    }
    Memory memory_on(DeviceId id, std::size_t size) {
        return value_or_throw(set.find(id)->allocate(Bytes{size}));
    }

    device::DeviceSet set{[] {
        auto devices = torch_devices();
        devices.push_back(device::make_host_device());
        return devices;
    }()};
};

TEST_F(TorchDevices, AreAllThatTorchHasAGuardFor) {
    ASSERT_EQ(set.all().size(), 3U);
    EXPECT_EQ(set.all()[1]->id(), kFirst);
    EXPECT_EQ(set.all()[2]->id(), kSecond);
}

using TorchDevicesDeathTest = TorchDevices;

TEST_F(TorchDevicesDeathTest, HaveMemoryThatTheHostMayNotTouch) {
    const auto memory = memory_on(kFirst, 4096);
    EXPECT_FALSE(first().is_host_accessible());
    EXPECT_DEATH(std::memset(memory.data(), 0, 1), "");
}

TEST_F(TorchDevices, LeaveTheCallersDeviceAndStreamAlone) {
    const c10::impl::VirtualGuardImpl guard(c10::kPrivateUse1);
    guard.setDevice({c10::kPrivateUse1, 1});
    const auto stream = far::current_stream(0);
    {
        const auto memory = memory_on(kFirst, 64);
        const auto sent = bytes(64, 1);
        const auto queue = value_or_throw(first().open_stream());
        ASSERT_TRUE(queue->copy({kFirst, all_of(memory)}, {kCpu, sent}));
        EXPECT_TRUE(value_or_throw(queue->record()).wait());
    }
    EXPECT_EQ(guard.getDevice().index(), 1);
    EXPECT_EQ(far::current_stream(0), stream);
    guard.setDevice({c10::kPrivateUse1, 0});
}

TEST_F(TorchDevices, CopyBesideTheCaller) {
    const auto memory = memory_on(kFirst, 64);
    const auto sent = bytes(64, 7);
    const auto stream = value_or_throw(first().open_stream());
    ASSERT_TRUE(stream->copy({kFirst, all_of(memory)}, {kCpu, sent}));
    const auto event = value_or_throw(stream->record());
    EXPECT_FALSE(event.is_reached());
    EXPECT_NE(*far::memory(0).reveal(memory.data()), sent[0]) << "not before somebody waits";
    ASSERT_TRUE(event.wait());
    EXPECT_TRUE(event.is_reached());
    EXPECT_EQ(*far::memory(0).reveal(memory.data()), sent[0]);
}

TEST_F(TorchDevices, SayHowMuchIsLacking) {
    const auto held = memory_on(kFirst, (128_MiB).count());
    const auto refused = first().allocate(200_MiB);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::out_of_memory);
    const auto& lack = refused.error().shortfall.at(kFirst);
    EXPECT_EQ(lack.needed, (200_MiB).count());
    EXPECT_EQ(lack.available, (128_MiB).count());
    EXPECT_NE(refused.error().hint.find("privateuseone:0"), std::string::npos);
    EXPECT_EQ(first().memory().free, 128_MiB);
    EXPECT_EQ(first().memory().total, 256_MiB);
    EXPECT_TRUE(set.find(kSecond)->allocate(200_MiB).has_value()) << "the other one has room";
}

TEST_F(TorchDevices, ReachEachOtherThroughTheHost) {
    EXPECT_FALSE(first().reaches(kSecond));
    device::Ledger ledger;
    device::Transfers transfers(set, ledger);
    const auto size = (20_MiB).count();
    const auto here = memory_on(kFirst, size);
    const auto there = memory_on(kSecond, size);
    auto sent = bytes(size, 0);
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<std::byte>(i * 7 % 251);
    auto back = bytes(size, 0);
    ASSERT_TRUE(transfers.copy({kFirst, all_of(here)}, {kCpu, sent}));
    ASSERT_TRUE(transfers.copy({kSecond, all_of(there)}, {kFirst, all_of(here)}));
    ASSERT_TRUE(transfers.copy({kCpu, back}, {kSecond, all_of(there)}));
    EXPECT_EQ(back, sent);
    EXPECT_EQ(transfers.counts().staged, (device::TransferCount{1, 20_MiB}));
}

TEST_F(TorchDevices, ReportALostDeviceAsSuchAndGoOnWhenItIsBack) {
    auto memory = memory_on(kFirst, 64);
    const auto sent = bytes(64, 1);
    const auto stream = value_or_throw(first().open_stream());
    ASSERT_TRUE(stream->copy({kFirst, all_of(memory)}, {kCpu, sent}));
    const auto event = value_or_throw(stream->record());
    far::lose(0);
    for (const auto& failed :
         {stream->copy({kFirst, all_of(memory)}, {kCpu, sent}), stream->finish(), event.wait()}) {
        ASSERT_FALSE(failed.has_value());
        EXPECT_EQ(failed.error().code, Code::device_lost);
        EXPECT_FALSE(failed.error().hint.empty());
    }
    EXPECT_TRUE(event.is_reached()) << "nobody shall wait for it for ever";
    EXPECT_EQ(first().allocate(64_B).error().code, Code::device_lost);
    EXPECT_EQ(first().memory().free, std::nullopt);
    memory = Memory{};
    EXPECT_EQ(first().memory().held, 0_B);
    far::restore(0);
    EXPECT_TRUE(first().allocate(64_B).has_value());
}

TEST_F(TorchDevices, AreNotTouchedUntilTheyAreUsed) {
    far::lose(0);  // each call would fail
    const auto state = first().memory();
    EXPECT_EQ(state.total, std::nullopt);
    EXPECT_EQ(state.free, std::nullopt);
    EXPECT_EQ(state.held, 0_B);
    EXPECT_EQ(state.cached, 0_B);
    EXPECT_TRUE(first().synchronise());
    EXPECT_EQ(first().empty_cache().value_or(1_B), 0_B);
    EXPECT_FALSE(first().is_awake());
    far::restore(0);
    EXPECT_TRUE(first().allocate(64_B).has_value());
    EXPECT_TRUE(first().is_awake());
    EXPECT_EQ(first().memory().total, 256_MiB);
    EXPECT_FALSE(set.find(kSecond)->is_awake()) << "the other one is not woken by that";
}

TEST_F(TorchDevices, SayWhyTheyCannotBeWaitedForOrEmptied) {
    for (const auto id : {kFirst, kSecond}) ASSERT_TRUE(set.find(id)->allocate(64_B).has_value());
    far::lose(0);
    EXPECT_TRUE(set.find(kSecond)->synchronise());
    EXPECT_TRUE(set.find(kSecond)->empty_cache());
    const auto synchronised = first().synchronise();
    const auto emptied = first().empty_cache();
    far::restore(0);
    ASSERT_FALSE(synchronised.has_value());
    EXPECT_EQ(synchronised.error().code, Code::device_lost);
    EXPECT_NE(synchronised.error().what.find("privateuseone:0"), std::string::npos);
    ASSERT_FALSE(emptied.has_value());
    EXPECT_EQ(emptied.error().code, Code::device_lost);
    EXPECT_TRUE(first().synchronise());
    EXPECT_TRUE(first().empty_cache());
}

TEST_F(TorchDevices, ShowTheirBytesAsTensors) {
    const auto memory = memory_on(kFirst, 4096);
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    const auto place = all_of(memory).subspan(128, values.size() * sizeof(float));
    device::Ledger ledger;
    device::Transfers transfers(set, ledger);
    ASSERT_TRUE(transfers.copy({kFirst, place}, {kCpu, std::as_bytes(std::span(values))}));
    const auto tensor = view_on(first(), place, at::kFloat, {2, 3});
    EXPECT_EQ(tensor.device(), at::Device(at::kPrivateUse1, 0));
    EXPECT_EQ(tensor.data_ptr(), place.data());
    EXPECT_TRUE(tensor.cpu().equal(ops::from_floats(values).view({2, 3})));
    EXPECT_TRUE(tensor.mul(2.0).cpu().equal(ops::from_floats(values).view({2, 3}).mul(2.0)));
}

TEST_F(TorchDevices, ShowNoBytesOfOthers) {
    const auto there = memory_on(kSecond, 64);
    const auto foreign =
        guarded("view", [&] { return view_on(first(), all_of(there), at::kByte, {64}); });
    ASSERT_FALSE(foreign.has_value());
    EXPECT_EQ(foreign.error().code, Code::internal);
}

TEST_F(TorchDevices, HoldNothingAfterManyRounds) {
    const auto used = far::memory(0).used();
    for (int round = 0; round < 100; ++round) {
        const auto memory = memory_on(kFirst, (8_MiB).count());
        const auto stream = value_or_throw(first().open_stream());
        const auto sent = bytes(4096, round);
        ASSERT_TRUE(stream->copy({kFirst, all_of(memory).first(4096)}, {kCpu, sent}));
    }
    EXPECT_EQ(far::memory(0).used(), used);
    EXPECT_EQ(first().memory().held, 0_B);
}

}  // namespace
}  // namespace ballast::runtime
