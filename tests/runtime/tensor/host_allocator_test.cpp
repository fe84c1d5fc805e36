#include "ballast/runtime/tensor/host_allocator.hpp"

#include <gtest/gtest.h>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime {
namespace {

using namespace ballast::literals;
using device::Tag;

struct Accounted {
    std::shared_ptr<device::Ledger> ledger = std::make_shared<device::Ledger>();
    HostAccounting accounting{ledger};

    [[nodiscard]] Bytes held(Tag tag) const {
        const auto snapshot = ledger->snapshot();
        const auto found = snapshot.find(kCpu);
        return found == snapshot.end() ? Bytes{} : found->second.tag(tag).now;
    }
};

TEST(HostAllocator, ChargesTensorsAsActivations) {
    Accounted here;
    {
        const auto tensor = ops::empty({1024, 1024}, at::kFloat);
        EXPECT_GE(here.held(Tag::activations), 4_MiB);
        EXPECT_LT(here.held(Tag::activations), Bytes{(4_MiB).count() + 8192});
    }
    EXPECT_EQ(here.held(Tag::activations), 0_B);
}

TEST(HostAllocator, ReusesLargeBlocksAndChargesThemAsScratchMeanwhile) {
    Accounted here;
    const void* first = nullptr;
    {
        const auto tensor = ops::empty({1024, 1024}, at::kFloat);
        first = tensor.const_data_ptr();
    }
    EXPECT_GE(here.held(Tag::scratch), 4_MiB);
    const auto again = ops::empty({1024, 1000}, at::kFloat);
    EXPECT_EQ(again.const_data_ptr(), first);
    EXPECT_EQ(here.held(Tag::scratch), 0_B);
}

TEST(HostAllocator, DoesNotWasteALargeBlockOnASmallTensor) {
    Accounted here;
    {
        const auto tensor = ops::empty({4096, 1024}, at::kFloat);
    }
    const auto small = ops::empty({1024, 1024}, at::kFloat);
    EXPECT_LT(here.held(Tag::activations), 5_MiB);
    EXPECT_GE(here.held(Tag::scratch), 16_MiB);
}

TEST(HostAllocator, TrimGivesUnusedMemoryBack) {
    Accounted here;
    {
        const auto tensor = ops::empty({1024, 1024}, at::kFloat);
    }
    EXPECT_GE(here.accounting.trim(), 4_MiB);
    EXPECT_EQ(here.held(Tag::scratch), 0_B);
    EXPECT_EQ(here.accounting.trim(), 0_B);
}

TEST(HostAllocator, ObeysTheLimitAndTheNextCallWorks) {
    Accounted here;
    here.ledger->set_limit(kCpu, 6_MiB);
    const auto held = ops::empty({1024, 1024}, at::kFloat);
    const auto refused = guarded("compute", [] { return ops::empty({1024, 1024}, at::kFloat); });
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::out_of_memory);
    EXPECT_GT(refused.error().shortfall.at(kCpu).missing(), 0U);
    EXPECT_NO_THROW(static_cast<void>(ops::empty({256, 1024}, at::kFloat)));
}

TEST(HostAllocator, ARefusalInsideAnOperatorUnwindsCleanly) {
    Accounted here;
    const auto x = ops::zeros({1, 64, 128, 128}, at::kFloat);
    const auto weight = ops::zeros({64, 64, 3, 3}, at::kFloat);
    here.ledger->set_limit(kCpu, here.ledger->snapshot().at(kCpu).now);
    const auto refused = guarded("convolve", [&] { return ops::conv2d(x, weight, {}, 1, 1); });
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::out_of_memory);
    here.ledger->set_limit(kCpu, std::nullopt);
    EXPECT_EQ(ops::conv2d(x, weight, {}, 1, 1).size(1), 64);
}

TEST(HostAllocator, KeptMemoryIsReleasedBeforeALimitRefuses) {
    Accounted here;
    here.ledger->set_limit(kCpu, 9_MiB);
    {
        const auto tensor = ops::empty({1024, 1024}, at::kFloat);
    }
    EXPECT_NO_THROW(static_cast<void>(ops::empty({2048, 1024}, at::kFloat)));
}

TEST(HostAllocator, TensorsMayOutliveTheAccounting) {
    at::Tensor survivor;
    {
        Accounted here;
        survivor = ops::full({1024, 1024}, 3.0, at::kFloat);
    }
    EXPECT_EQ(survivor[5][5].item<float>(), 3.0F);
    Accounted next;
    survivor = at::Tensor();
    EXPECT_EQ(next.held(Tag::activations), 0_B);
}

}  // namespace
}  // namespace ballast::runtime
