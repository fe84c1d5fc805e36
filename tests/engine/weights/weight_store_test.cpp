#include "ballast/engine/weights/weight_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace ballast::weights {
namespace {

using namespace ballast::literals;

/// A file that exists only here: byte i is i * 7 mod 251.
class PatternReader final : public formats::Reader {
public:
    explicit PatternReader(std::uint64_t size, std::uint64_t fails_from = ~std::uint64_t{0})
        : size_(size), fails_from_(fails_from) {}

    [[nodiscard]] Bytes size() const override { return Bytes{size_}; }

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        ++reads;
        if (offset + destination.size() > fails_from_)
            return fail(Error{.code = Code::io, .what = "cannot read", .why = "broken disk"});
        for (std::size_t i = 0; i < destination.size(); ++i) destination[i] = at(offset + i);
        return {};
    }

    static std::byte at(std::uint64_t offset) { return static_cast<std::byte>(offset * 7 % 251); }

    mutable std::atomic<int> reads{0};

private:
    std::uint64_t size_;
    std::uint64_t fails_from_;
};

plan::BlockTensor bytes_at(std::string name, std::uint64_t offset, std::uint64_t size) {
    return {.name = std::move(name),
            .type = ElementType::u8,
            .shape = {static_cast<std::int64_t>(size)},
            .offset = offset,
            .bytes = Bytes{size}};
}

struct Fixture {
    explicit Fixture(std::vector<plan::BlockTensor> tensors,
                     std::shared_ptr<PatternReader> from = std::make_shared<PatternReader>(1U
                                                                                           << 24U))
        : reader(std::move(from)), table(plan::group_into_blocks(tensors)) {}

    Result<std::shared_ptr<const WeightStore>> load(unsigned threads = 2) {
        return WeightStore::load({.reader = reader,
                                  .table = table,
                                  .plan = plan::resident_plan(table, kCpu, std::nullopt),
                                  .ledger = &ledger,
                                  .reading_threads = threads});
    }

    std::shared_ptr<PatternReader> reader;
    plan::BlockTable table;
    device::Ledger ledger;
};

TEST(WeightStore, HoldsTheFilesBytesAlignedForComputation) {
    Fixture fixture({bytes_at("a.weight", 1001, 5'000'003), bytes_at("a.bias", 17, 3),
                     bytes_at("b.weight", 6'000'000, 64)});
    const auto store = fixture.load();
    ASSERT_TRUE(store.has_value());
    for (std::uint32_t b = 0; b < 2; ++b) {
        const auto pin = (*store)->pin({b});
        ASSERT_TRUE(pin.has_value());
        for (std::size_t t = 0; t < pin->block().tensors.size(); ++t) {
            const auto bytes = pin->bytes(t);
            const auto& entry = pin->block().tensors[t];
            ASSERT_EQ(bytes.size(), entry.bytes.count());
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0U);
            for (std::size_t i = 0; i < bytes.size(); ++i)
                ASSERT_EQ(bytes[i], PatternReader::at(entry.offset + i)) << entry.name << i;
        }
    }
}

TEST(WeightStore, RealisesExactlyWhatThePlanSays) {
    Fixture fixture({bytes_at("a.weight", 0, 1000), bytes_at("b.weight", 1000, 24)});
    const auto store = fixture.load();
    ASSERT_TRUE(store.has_value());
    EXPECT_EQ((*store)->realised(), (*store)->plan().per_device);
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(device::Tag::weights).now, 1024_B);
}

TEST(WeightStore, GivesEverythingBackWhenItGoes) {
    Fixture fixture({bytes_at("a.weight", 0, 1000)});
    {
        const auto store = fixture.load();
    }
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).now, 0_B);
}

TEST(WeightStore, RefusesBeforeTheFirstByteIsRead) {
    Fixture fixture({bytes_at("a.weight", 0, 1000)});
    fixture.ledger.set_limit(kCpu, 999_B);
    const auto store = fixture.load();
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::does_not_fit);
    EXPECT_EQ(store.error().shortfall.at(kCpu).missing(), 1U);
    EXPECT_EQ(fixture.reader->reads, 0);
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).now, 0_B);
}

TEST(WeightStore, DoesNotRealiseAPlanThatDoesNotFit) {
    Fixture fixture({bytes_at("a.weight", 0, 1000)});
    const auto store = WeightStore::load({.reader = fixture.reader,
                                          .table = fixture.table,
                                          .plan = plan::resident_plan(fixture.table, kCpu, 10_B),
                                          .ledger = &fixture.ledger});
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::does_not_fit);
    EXPECT_EQ(store.error().shortfall.at(kCpu).missing(), 990U);
    EXPECT_EQ(fixture.reader->reads, 0);
}

TEST(WeightStore, AFailedReadLeavesNothingReserved) {
    Fixture fixture({bytes_at("a.weight", 0, 9'000'000)},
                    std::make_shared<PatternReader>(1U << 24U, 5'000'000));
    const auto store = fixture.load(3);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::io);
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).now, 0_B);
}

TEST(WeightStore, CountsPinsWhileTheyLive) {
    Fixture fixture({bytes_at("a.weight", 0, 10)});
    const auto store = fixture.load();
    ASSERT_TRUE(store.has_value());
    {
        auto first = (*store)->pin({0});
        auto second = (*store)->pin({0});
        EXPECT_EQ((*store)->pins(), 2U);
        Pin moved = *std::move(first);
        EXPECT_EQ((*store)->pins(), 2U);
    }
    EXPECT_EQ((*store)->pins(), 0U);
}

TEST(WeightStore, AModelWithoutBytesLoads) {
    Fixture fixture({bytes_at("a.weight", 0, 0)});
    const auto store = fixture.load();
    ASSERT_TRUE(store.has_value());
    EXPECT_TRUE((*store)->pin({0})->bytes(0).empty());
}

}  // namespace
}  // namespace ballast::weights
