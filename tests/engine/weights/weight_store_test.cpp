#include "ballast/engine/weights/weight_store.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "tests/support/pattern_file.hpp"

namespace ballast::weights {
namespace {

using namespace ballast::literals;

struct Fixture {
    explicit Fixture(std::vector<plan::BlockTensor> tensors,
                     std::shared_ptr<PatternReader> from = std::make_shared<PatternReader>())
        : reader(std::move(from)), table(plan::group_into_blocks(tensors)) {}

    Result<std::shared_ptr<const WeightStore>> load(unsigned threads = 2) {
        return load(plan::resident_plan(table, kCpu, std::nullopt), threads);
    }
    Result<std::shared_ptr<const WeightStore>> load(plan::Plan plan, unsigned threads = 2) {
        return WeightStore::load({.reader = reader,
                                  .table = table,
                                  .plan = std::move(plan),
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
            const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
            if (bytes.size() % 64 == 0) {
                EXPECT_EQ(address % 64, 0U);
            } else if (bytes.size() % 4 == 0) {
                EXPECT_EQ(address % 4, 0U);
            }
            for (std::size_t i = 0; i < bytes.size(); ++i)
                ASSERT_EQ(bytes[i], PatternReader::at(entry.offset + i)) << entry.name << i;
        }
    }
}

TEST(WeightStore, RealisesExactlyWhatThePlanSays) {
    // sizes that no cache line divides: nothing is lost between them
    Fixture fixture({bytes_at("a.weight", 0, 1000), bytes_at("b.weight", 1000, 24)});
    const auto store = fixture.load();
    ASSERT_TRUE(store.has_value());
    EXPECT_EQ((*store)->realised(), (*store)->plan().per_device);
    EXPECT_EQ((*store)->realised().at(kCpu), 1024_B);
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(device::Tag::weights).now, 1024_B);
}

TEST(WeightStore, RefusesAPlanThatPromisesOtherBytesThanItsBlocksTake) {
    Fixture fixture({bytes_at("a.weight", 0, 1000), bytes_at("b.weight", 1000, 24)});
    auto plan = plan::resident_plan(fixture.table, kCpu, std::nullopt);
    plan.per_device[kCpu] = 1023_B;
    const auto store = fixture.load(plan);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::internal);
    EXPECT_NE(store.error().why.find("1023 bytes for cpu, its blocks take 1024"),
              std::string::npos);
    plan.per_device = {{kCpu, 1024_B}, {{DeviceKind::cuda, 0}, 1_B}};
    EXPECT_EQ(fixture.load(plan).error().place.key, "cuda:0");
    EXPECT_EQ(fixture.reader->reads, 0);
}

TEST(WeightStore, LaysTensorsOutWithoutALostByte) {
    Fixture fixture({bytes_at("a.weight", 0, 1000), bytes_at("b.weight", 1000, 24)});
    const auto store = fixture.load();
    ASSERT_TRUE(store.has_value());
    // what stands between the first and the last byte that a pin shows
    const auto first = (*store)->pin({0});
    const auto last = (*store)->pin({1});
    const auto used = last->bytes(0).data() + last->bytes(0).size() - first->bytes(0).data();
    EXPECT_EQ(used, 1024);
}

TEST(WeightStore, RefusesHomesThatCannotHoldWeights) {
    Fixture fixture({bytes_at("a.weight", 0, 10), bytes_at("b.weight", 10, 10)});
    auto plan = plan::resident_plan(fixture.table, kCpu, std::nullopt);
    plan.homes[1] = {DeviceKind::cuda, 1};
    const auto elsewhere = fixture.load(plan);
    ASSERT_FALSE(elsewhere.has_value());
    EXPECT_EQ(elsewhere.error().code, Code::not_available);
    EXPECT_EQ(elsewhere.error().place.key, "b");
    EXPECT_NE(elsewhere.error().why.find("cuda:1"), std::string::npos);
    EXPECT_FALSE(elsewhere.error().hint.empty());

    const auto computing =
        fixture.load(plan::resident_plan(fixture.table, {DeviceKind::cuda, 0}, std::nullopt));
    ASSERT_FALSE(computing.has_value());
    EXPECT_EQ(computing.error().code, Code::not_available);

    plan.homes.pop_back();
    EXPECT_EQ(fixture.load(plan).error().code, Code::internal);
    EXPECT_EQ(fixture.reader->reads, 0);
    EXPECT_TRUE(fixture.ledger.snapshot().empty()) << "nothing was ever reserved";
}

/// True if the system gives out any address range, whether it has memory for it or not.
bool system_promises_anything() {
    std::ifstream setting("/proc/sys/vm/overcommit_memory");
    return setting.get() == '1';
}

TEST(WeightStore, FailsBeforeReadingWhatTheSystemHasNoMemoryFor) {
    if (system_promises_anything()) GTEST_SKIP() << "vm.overcommit_memory is 1";
    // 32 TiB fit into the address space, but into no machine's memory
    Fixture fixture({bytes_at("a.weight", 0, std::uint64_t{1} << 45U)},
                    std::make_shared<PatternReader>(0));
    const auto store = fixture.load();
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::out_of_memory);
    EXPECT_FALSE(store.error().hint.empty());
    EXPECT_EQ(fixture.reader->reads, 0);
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).now, 0_B);
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
                    std::make_shared<PatternReader>(5'000'000));
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
