// Networks whose weights lie on two accelerators, the host and disk give the golden results, within
// the tolerances that hold for the processor alone.

#include <gtest/gtest.h>

#include <algorithm>

#include "ballast/runtime/networks/sd/unet.hpp"
#include "ballast/runtime/tensor/torch_device.hpp"
#include "ballast/runtime/text/clip_text_model.hpp"
#include "ballast/runtime/vae/vae.hpp"
#include "tests/fakes/far/far_device.hpp"
#include "tests/support/distributed_part.hpp"
#include "tests/support/tiny_part.hpp"

namespace ballast::runtime {
namespace {

namespace far = ballast::testing::far;
using namespace ballast::literals;
using ballast::testing::DistributedPart;
using ballast::testing::Machine;
using ballast::testing::Taps;
using ballast::testing::TinyPart;

constexpr DeviceId kFirst{DeviceKind::privateuseone, 0};
constexpr DeviceId kSecond{DeviceKind::privateuseone, 1};
constexpr DeviceId kDisk{DeviceKind::disk, 0};

struct TinyUNet : TinyPart<networks::sd::UNet, &models::sd::describe_unet, DistributedPart> {
    using TinyPart::TinyPart;

    at::Tensor run(const std::string& name, nn::LayerListener* listener = nullptr) {
        const nn::Forward forward(part.source, nullptr, listener);
        return network(forward, golden["unet." + name + ".x"],
                       golden["unet." + name + ".timesteps"], golden["unet." + name + ".context"]);
    }
};

struct Distributed : ::testing::Test {
    Machine machine{torch_devices()};
};

TEST_F(Distributed, ComputeWhereThePlanSays) {
    TinyUNet tiny(machine);
    EXPECT_EQ(tiny.part.source.device(), at::Device(at::kPrivateUse1, 0));
    const auto layer = tiny.part.source.pin({1});
    EXPECT_EQ(layer[0].device(), at::Device(at::kPrivateUse1, 0)) << "lives on the other one";
    EXPECT_TRUE(tiny.run("a").device().is_cpu());
}

TEST_F(Distributed, TheUNetMatchesTheReference) {
    TinyUNet tiny(machine);
    for (const auto* name : {"a", "b", "c", "d"})
        tiny.expect(tiny.run(name), "unet." + std::string(name) + ".out");
    EXPECT_EQ(tiny.part.store->pins(), 0U);
}

TEST_F(Distributed, TheUNetMatchesTheReferenceInEveryTappedModule) {
    TinyUNet tiny(machine);
    Taps taps;
    tiny.run("a", &taps);
    const std::string prefix = "unet.a.tap.";
    int compared = 0;
    for (const auto& entry : tiny.golden.directory().entries()) {
        if (!entry.name.starts_with(prefix)) continue;
        tiny.expect(taps.outputs.at(entry.name.substr(prefix.size())).cpu(), entry.name);
        ++compared;
    }
    EXPECT_EQ(compared, 9);
}

TEST_F(Distributed, WeightsAreWhereThePlanHasThemAndTravelAtEachUse) {
    TinyUNet tiny(machine);
    const auto& plan = tiny.part.store->plan();
    EXPECT_EQ(tiny.part.store->realised(), plan.per_device);
    for (const auto device : {kFirst, kSecond, kCpu}) {
        const auto use = machine.ledger.snapshot().at(device).tag(device::Tag::weights);
        EXPECT_EQ(use.now, plan.per_device.at(device)) << to_string(device);
        EXPECT_GT(use.now, 100_KiB) << to_string(device);
    }
    EXPECT_GT(plan.per_device.at(kDisk), 100_KiB);
    machine.transfers.reset_counts();
    tiny.run("a");
    const auto counts = machine.transfers.counts();
    EXPECT_GE(counts.staged.bytes, plan.per_device.at(kSecond)) << "each block at least once";
    EXPECT_GE(counts.ways.at({kCpu, kFirst}).bytes,
              plan.per_device.at(kSecond) + plan.per_device.at(kCpu) + plan.per_device.at(kDisk));
}

TEST_F(Distributed, StoredTypesAreWidenedOnTheDevice) {
    TinyUNet tiny(machine);
    tiny.run("a");
    const auto widened = machine.ledger.snapshot()[kFirst].tag(device::Tag::widened);
    const auto on_host = machine.ledger.snapshot()[kCpu].tag(device::Tag::widened);
    EXPECT_GT(widened.now, 0_B);
    EXPECT_EQ(on_host.peak, 0_B);
}

TEST_F(Distributed, GiveEverythingBack) {
    const auto before = std::pair{far::memory(0).used(), far::memory(1).used()};
    {
        TinyUNet tiny(machine);
        tiny.run("a");
        EXPECT_GT(far::memory(1).used(), before.second);
    }
    machine.widening.clear();
    EXPECT_EQ(std::pair(far::memory(0).used(), far::memory(1).used()), before);
    for (const auto device : {kFirst, kSecond})
        EXPECT_EQ(machine.ledger.snapshot()[device].now, 0_B) << to_string(device);
}

TEST_F(Distributed, ABlockOnItsWayWaitsForArithmeticThatReadsTheOneBefore) {
    TinyUNet tiny(machine, at::kHalf);  // as stored: bytes are read where they arrive
    const auto& homes = tiny.part.store->plan().homes;
    std::vector<plan::BlockId> streamed;
    for (std::uint32_t i = 0; i < homes.size(); ++i)
        if (homes[i] != kFirst) streamed.push_back({i});
    at::Tensor copy, expected;
    {
        const auto layer = tiny.part.source.pin(streamed[0]);
        expected = layer[0].cpu();
        copy = layer[0].clone();  // queued, and read only when somebody waits
    }
    for (std::size_t i = 1; i < 4; ++i) static_cast<void>(tiny.part.source.pin(streamed[i]));
    EXPECT_TRUE(copy.cpu().equal(expected));
}

TEST_F(Distributed, ALostDeviceEndsTheStepAsSuch) {
    TinyUNet tiny(machine);
    far::lose(1);
    const auto lost = guarded("denoise", [&] { return tiny.run("a"); });
    far::restore(1);
    ASSERT_FALSE(lost.has_value());
    EXPECT_EQ(lost.error().code, Code::device_lost);
    EXPECT_EQ(tiny.part.store->pins(), 0U);
    tiny.expect(tiny.run("a"), "unet.a.out");
}

TEST_F(Distributed, TheAutoencoderMatchesTheReference) {
    TinyPart<vae::Vae, &models::sd::describe_vae, DistributedPart> tiny(machine);
    const nn::Forward forward(tiny.part.source);
    const auto latent = tiny.golden["vae.decode.latent"];
    tiny.expect(tiny.network.decode(forward, latent), "vae.decode.image");
    tiny.expect(tiny.network.encode(forward, tiny.golden["vae.encode.image"]), "vae.encode.latent");
    tiny.expect(tiny.network.decode_tiled(forward, tiny.golden["vae.decode_tiled.latent"],
                                          {.height = 8, .width = 8, .overlap = 2}),
                "vae.decode_tiled.image");
}

TEST_F(Distributed, TheTextEncoderMatchesTheReference) {
    TinyPart<text::ClipTextModel, &models::sd::describe_clip, DistributedPart> tiny(machine);
    const nn::Forward forward(tiny.part.source);
    const auto ids = tiny.golden["clip.ids"].to(at::kLong);
    std::vector<std::int64_t> ends;
    for (std::int64_t b = 0; b < ids.size(0); ++b) {
        const auto row = ids[b].contiguous();
        const auto* first = row.const_data_ptr<std::int64_t>();
        ends.push_back(std::find(first, first + row.numel(), 49407) - first);
    }
    const auto output = tiny.network.run(forward, tiny.network.embed(forward, ids), ends, -2);
    tiny.expect(output.raw, "clip.penultimate_raw");
    tiny.expect(output.normed, "clip.penultimate_normed");
    tiny.expect(output.pooled, "clip.pooled");
}

}  // namespace
}  // namespace ballast::runtime
