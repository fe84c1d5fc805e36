#include "ballast/runtime/tensor/weight_source.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime {
namespace {

using namespace ballast::literals;

/// A file held in memory.
class MemoryReader final : public formats::Reader {
public:
    explicit MemoryReader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        std::memcpy(destination.data(), bytes_.data() + offset, destination.size());
        return {};
    }

private:
    std::vector<std::byte> bytes_;
};

/// One layer "a" with weight 0, 1, 2... of shape [4, 3] and bias [4], in the given type, and an
/// integer tensor.
struct Model {
    explicit Model(at::ScalarType type) {
        weight =
            ops::from_floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.1F}).to(type).reshape({4, 3});
        bias = ops::from_floats({-1, 65504, 6e-8F, 0.333F}).to(type);
        ids = ops::from_ints({5, -1});
        const auto element = type == at::kHalf    ? ElementType::f16
                             : type == at::kFloat ? ElementType::f32
                                                  : ElementType::bf16;
        std::vector<std::byte> file;
        std::vector<plan::BlockTensor> tensors;
        const auto add = [&](std::string name, const at::Tensor& t, ElementType as) {
            const auto size = t.nbytes();
            tensors.push_back({.name = std::move(name),
                               .type = as,
                               .shape = t.sizes().vec(),
                               .offset = file.size(),
                               .bytes = Bytes{size}});
            file.resize(file.size() + size);
            std::memcpy(file.data() + file.size() - size, t.const_data_ptr(), size);
        };
        add("a.weight", weight, element);
        add("a.bias", bias, element);
        add("a.ids", ids, ElementType::i64);
        const auto table = plan::group_into_blocks(tensors);
        store = value_or_throw(
            weights::WeightStore::load({.reader = std::make_shared<MemoryReader>(std::move(file)),
                                        .table = table,
                                        .plan = plan::resident_plan(table, kCpu, std::nullopt),
                                        .ledger = &ledger}));
    }

    device::Ledger ledger;
    at::Tensor weight, bias, ids;
    std::shared_ptr<const weights::WeightStore> store;
    WideningBuffer widening{ledger};
};

TEST(WeightSource, UsesStoredBytesInPlaceWhenTheyHaveTheComputeType) {
    Model model(at::kFloat);
    const WeightSource source(model.store, at::kFloat, model.widening);
    const auto layer = source.pin({0});
    EXPECT_TRUE(layer[0].equal(model.weight));
    EXPECT_EQ(layer[0].const_data_ptr(), model.store->pin({0})->bytes(0).data());
    EXPECT_EQ(model.ledger.snapshot().at(kCpu).tag(device::Tag::widened).now, 0_B);
}

TEST(WeightSource, WidensHalfPrecisionExactly) {
    for (const auto type : {at::kHalf, at::kBFloat16}) {
        Model model(type);
        const WeightSource source(model.store, at::kFloat, model.widening);
        const auto layer = source.pin({0});
        EXPECT_EQ(layer[0].scalar_type(), at::kFloat);
        EXPECT_TRUE(layer[0].equal(model.weight.to(at::kFloat)));
        EXPECT_TRUE(layer[1].equal(model.bias.to(at::kFloat)));
        EXPECT_TRUE(layer[2].equal(model.ids)) << "integers stay as stored";
    }
}

TEST(WeightSource, ReusesOneBufferAndAccountsForIt) {
    Model model(at::kHalf);
    const WeightSource source(model.store, at::kFloat, model.widening);
    const void* first = nullptr;
    for (int round = 0; round < 3; ++round) {
        const auto layer = source.pin({0});
        if (round == 0) first = layer[0].const_data_ptr();
        EXPECT_EQ(layer[0].const_data_ptr(), first);
    }
    EXPECT_EQ(model.ledger.snapshot().at(kCpu).tag(device::Tag::widened).now, 128_B);
    model.widening.clear();
    EXPECT_EQ(model.ledger.snapshot().at(kCpu).tag(device::Tag::widened).now, 0_B);
}

TEST(WeightSource, TwoLayersPinnedAtOnceDoNotShareMemory) {
    Model model(at::kHalf);
    const WeightSource source(model.store, at::kFloat, model.widening);
    const auto outer = source.pin({0});
    const auto inner = source.pin({0});
    EXPECT_NE(outer[0].const_data_ptr(), inner[0].const_data_ptr());
    EXPECT_TRUE(outer[0].equal(inner[0]));
}

TEST(WeightSource, RefusesToWidenBeyondTheLimit) {
    Model model(at::kHalf);
    model.ledger.set_limit(kCpu, model.ledger.snapshot().at(kCpu).now);
    const WeightSource source(model.store, at::kFloat, model.widening);
    const auto refused = guarded("widen", [&] { return source.pin({0})[0].clone(); });
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::out_of_memory);
}

TEST(WeightSource, WidensIntoMemoryThatActivationsOnlyKeepForReuse) {
    Model model(at::kHalf);
    const HostAccounting accounting({std::shared_ptr<void>{}, &model.ledger});  // not owned
    {
        const auto used = ops::zeros({1 << 20}, at::kFloat);
    }
    const auto use = model.ledger.snapshot().at(kCpu);
    EXPECT_GE(use.tag(device::Tag::scratch).now, 4_MiB);
    model.ledger.set_limit(kCpu, use.now);
    const WeightSource source(model.store, at::kFloat, model.widening);
    EXPECT_TRUE(source.pin({0})[0].equal(model.weight.to(at::kFloat)));
}

TEST(WeightSource, LooksRowsUpBeforeWidening) {
    Model model(at::kHalf);
    const WeightSource source(model.store, at::kFloat, model.widening);
    const auto rows = source.rows({0}, 0, ops::from_ints({3, 0, 3, 1}).reshape({2, 2}));
    EXPECT_EQ(rows.sizes(), (std::vector<std::int64_t>{2, 2, 3}));
    EXPECT_TRUE(rows[0][0].equal(model.weight[3].to(at::kFloat)));
    EXPECT_TRUE(rows[1][1].equal(model.weight[1].to(at::kFloat)));
    EXPECT_EQ(model.ledger.snapshot().at(kCpu).tag(device::Tag::widened).now, 0_B);
}

}  // namespace
}  // namespace ballast::runtime
