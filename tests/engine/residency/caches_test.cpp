#include "ballast/engine/residency/caches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "tests/engine/residency/cards.hpp"

namespace ballast::residency {
namespace {

using namespace ballast::literals;
using device::Memory;
using machine::CacheAction;
using machine::EmptyingCall;
using machine::MemoryClass;
using testing::by_device;
using testing::Cards;
using testing::cuda;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<DeviceId> order_of(const std::vector<CacheReport>& reports) {
    std::vector<DeviceId> ids;
    for (const auto& report : reports) ids.push_back(report.device);
    return ids;
}

/// Readings of available memory, one after the other; the last one stays.
AvailableNow readings(std::deque<std::optional<Bytes>> values) {
    return [values = std::move(values)]() mutable {
        const auto value = values.front();
        if (values.size() > 1) values.pop_front();
        return value;
    };
}

TEST(Caches, AreTreatedAsTheClassOfTheirDeviceAndTheCallAskFor) {
    constexpr auto kRelease = CacheAction::release;
    constexpr auto kSynchronise = CacheAction::synchronise;
    constexpr auto kNothing = CacheAction::nothing;
    struct Row {
        MemoryClass memory_class;
        CacheAction soft;
        CacheAction forced;
        CacheAction buffer_reset;
    };
    const std::vector<Row> table{
        {MemoryClass::discrete, kRelease, kRelease, kRelease},
        {MemoryClass::coherent, kRelease, kRelease, kRelease},
        {MemoryClass::partitioned, kRelease, kRelease, kRelease},
        {MemoryClass::shared, kRelease, kRelease, kRelease},
        {MemoryClass::unified, kSynchronise, kRelease, kNothing},
        {MemoryClass::none, kNothing, kNothing, kNothing},
    };
    // the device is waited for, then released
    const std::map<CacheAction, std::uint64_t> calls{
        {kRelease, 2}, {kSynchronise, 1}, {kNothing, 0}};
    for (const auto& row : table)
        for (const auto& [call, action] :
             {std::pair{EmptyingCall::soft, row.soft}, std::pair{EmptyingCall::forced, row.forced},
              std::pair{EmptyingCall::buffer_reset, row.buffer_reset}}) {
            Cards cards({cuda(0)});
            cards.memory_class = row.memory_class;
            cards.fill_cache(cuda(0), 1_GiB);
            const auto before = cards.machine.calls(cuda(0));
            const auto report = cards.empty(call, {cuda(0)}).at(0);
            SCOPED_TRACE(machine::to_string(row.memory_class));
            EXPECT_EQ(report.action, action);
            EXPECT_EQ(cards.machine.calls(cuda(0)) - before, calls.at(action));
            EXPECT_EQ(report.released, action == kRelease ? 1_GiB : 0_B);
            EXPECT_EQ(report.kept, action == kRelease ? 0_B : 1_GiB);
            EXPECT_EQ(cards.cached(cuda(0)), report.kept);
            EXPECT_THAT(cards.lines->lines(LogLevel::info), IsEmpty());
        }
}

TEST(Caches, OfASharedPoolGoUnderPressureAlone) {
    struct Row {
        Bytes cached;
        std::optional<Bytes> available;
        CacheAction action;
    };
    for (const auto& row : std::vector<Row>{
             {256_MiB, (4_GiB).minus_or_zero(1_B), CacheAction::release},
             {256_MiB, 4_GiB, CacheAction::synchronise},
             {255_MiB, 1_GiB, CacheAction::synchronise},
             {256_MiB, std::nullopt, CacheAction::synchronise},
         }) {
        Cards cards({cuda(0)});
        cards.memory_class = MemoryClass::unified;
        cards.fill_cache(cuda(0), row.cached);
        cards.available = readings({row.available, row.available, 8_GiB});
        const auto report = cards.empty(EmptyingCall::soft, {cuda(0)}).at(0);
        EXPECT_EQ(report.action, row.action);
        const auto lines = cards.lines->lines(LogLevel::info);
        if (row.action == CacheAction::release) {
            EXPECT_THAT(lines, ElementsAre(HasSubstr("pressure release")));
        } else {
            EXPECT_THAT(lines, IsEmpty());
        }
    }
}

TEST(Caches, OfASharedPoolMustReachTheSystem) {
    struct Row {
        std::optional<Bytes> before;
        std::optional<Bytes> after;
        bool reached;
    };
    for (const auto& row : std::vector<Row>{
             {10_GiB, 11_GiB, true},
             {10_GiB, 10_GiB + 820_MiB, true},
             {10_GiB, 10_GiB + 819_MiB, false},
             {10_GiB, 9_GiB, false},
             {10_GiB, std::nullopt, true},
             {std::nullopt, 10_GiB, true},
         }) {
        Cards cards({cuda(0)});
        cards.memory_class = MemoryClass::unified;
        cards.fill_cache(cuda(0), 1_GiB);
        cards.available = readings({row.before, row.before, row.after});
        const auto report = cards.empty(EmptyingCall::forced, {cuda(0)}).at(0);
        EXPECT_EQ(report.released, 1_GiB);
        EXPECT_EQ(report.reached_system, row.reached);
        EXPECT_EQ(cards.lines->lines(LogLevel::warning).size(), row.reached ? 0U : 1U);
    }
}

TEST(Caches, OfOtherClassesDoNotAskWhatTheSystemHasLeft) {
    Cards cards({cuda(0)});
    cards.fill_cache(cuda(0), 1_GiB);
    int asked = 0;
    cards.available = [&]() -> std::optional<Bytes> {
        ++asked;
        return 0_B;
    };
    EXPECT_TRUE(cards.empty(EmptyingCall::forced).at(1).reached_system);
    EXPECT_EQ(asked, 0);
}

TEST(Caches, AreReleasedWhenNothingIsInFlight) {
    Cards cards({cuda(0)});
    const std::vector<std::byte> sent(1 << 20, std::byte{5});
    std::vector<std::byte> back(sent.size());
    const auto memory = cards[cuda(0)].allocate(1_MiB).value();
    const auto stream = cards[cuda(0)].open_stream().value();
    ASSERT_TRUE(stream->copy({cuda(0), {memory.data(), sent.size()}}, {kCpu, sent}));
    ASSERT_TRUE(stream->copy({kCpu, back}, {cuda(0), {memory.data(), sent.size()}}));
    ASSERT_NE(back, sent);
    cards.empty(EmptyingCall::forced);
    EXPECT_EQ(back, sent);
}

TEST(Caches, OfADeviceThatCannotBeWaitedForAreKept) {
    Cards cards({cuda(0), cuda(1)});
    for (const auto id : {cuda(0), cuda(1)}) cards.fill_cache(id, 1_GiB);
    cards.lose(cuda(0));
    const auto cached = cards.cached(cuda(0));
    const auto reports = by_device(cards.empty(EmptyingCall::forced));
    ASSERT_TRUE(reports.at(cuda(0)).error.has_value());
    EXPECT_EQ(reports.at(cuda(0)).error->code, Code::device_lost);
    EXPECT_EQ(reports.at(cuda(0)).released, 0_B);
    EXPECT_EQ(reports.at(cuda(0)).kept, cached);
    EXPECT_EQ(reports.at(cuda(1)).released, 1_GiB) << "the other one is emptied";
}

TEST(Caches, OfAllKindsAndIndicesAreEmptiedInTheOrderOfEnumeration) {
    const std::vector<DeviceId> ids{
        {DeviceKind::cuda, 0}, {DeviceKind::cuda, 1}, {DeviceKind::xpu, 0},
        {DeviceKind::xpu, 1},  {DeviceKind::mps, 0},  {DeviceKind::npu, 0},
        {DeviceKind::npu, 1},  {DeviceKind::mlu, 1},  {DeviceKind::corex, 1}};
    Cards cards(ids);
    for (const auto id : ids) cards.fill_cache(id, 1_MiB);
    const auto reports = cards.empty(EmptyingCall::soft);
    auto expected = ids;
    expected.insert(expected.begin(), kCpu);
    EXPECT_EQ(order_of(reports), expected);
    for (const auto id : ids) {
        EXPECT_EQ(cards.cached(id), 0_B) << to_string(id);
        EXPECT_EQ(by_device(reports).at(id).released, 1_MiB) << to_string(id);
    }
    EXPECT_EQ(reports[0].action, CacheAction::nothing) << "the host keeps nothing of ours";
}

TEST(Caches, OfSomeDevicesAreToldInTheSameOrderAndOnce) {
    Cards cards({cuda(0), cuda(1), cuda(2)});
    const auto reports = cards.empty(EmptyingCall::soft, {cuda(2), cuda(1), cuda(2)});
    EXPECT_EQ(order_of(reports), (std::vector{cuda(1), cuda(2)}));
}

TEST(Caches, OfADeviceThatIsNotThereAreAnErrorThatStopsNothing) {
    Cards cards({cuda(0)});
    cards.fill_cache(cuda(0), 1_GiB);
    const auto reports = cards.empty(EmptyingCall::forced, {cuda(7), cuda(0), cuda(7)});
    ASSERT_EQ(order_of(reports), (std::vector{cuda(0), cuda(7)}));
    EXPECT_EQ(reports[0].released, 1_GiB);
    ASSERT_TRUE(reports[1].error.has_value());
    EXPECT_EQ(reports[1].error->code, Code::not_available);
    EXPECT_THAT(reports[1].error->hint, HasSubstr("cpu, cuda:0"));
    EXPECT_THAT(cards.lines->lines(LogLevel::warning), ElementsAre(HasSubstr("cuda:7")));
}

/// One of several devices whose allocator empties all of them at once, as torch's do.
class Sibling final : public device::Device {
public:
    using Family = std::map<DeviceId, Bytes>;
    Sibling(DeviceId id, std::shared_ptr<Family> family) : id_(id), family_(std::move(family)) {}

    [[nodiscard]] DeviceId id() const override { return id_; }
    [[nodiscard]] Bytes granularity() const override { return 1_B; }
    [[nodiscard]] bool is_host_accessible() const override { return false; }
    [[nodiscard]] bool reaches(DeviceId) const override { return true; }
    [[nodiscard]] bool is_awake() const override { return true; }
    [[nodiscard]] device::MemoryState memory() const override {
        return {.cached = family_->at(id_)};
    }
    Result<Memory> allocate(Bytes) override { return Memory{}; }
    Result<std::unique_ptr<device::Stream>> open_stream() override { return nullptr; }
    Result<void> synchronise() override {
        if (is_stuck) return fail(Error{.code = Code::io, .what = "cannot wait"});
        return {};
    }
    Result<Bytes> empty_cache() override {
        const auto mine = family_->at(id_);
        for (auto& [id, cached] : *family_) cached = 0_B;
        return mine;
    }

    bool is_stuck = false;

private:
    void give_back(std::byte*, std::size_t) noexcept override {}

    DeviceId id_;
    std::shared_ptr<Family> family_;
};

TEST(Caches, ThatAreEmptiedTogetherAreToldForTheDeviceThatHadThem) {
    const auto family =
        std::make_shared<Sibling::Family>(Sibling::Family{{cuda(0), 1_GiB}, {cuda(1), 3_GiB}});
    const device::DeviceSet devices(
        {std::make_shared<Sibling>(cuda(0), family), std::make_shared<Sibling>(cuda(1), family)});
    const auto reports = empty_caches(
        devices, {}, EmptyingCall::forced,
        [](DeviceId) { return DevicePolicy{.memory_class = MemoryClass::discrete, .reserve = {}}; },
        {}, Log{});
    EXPECT_EQ(by_device(reports).at(cuda(0)).released, 1_GiB);
    EXPECT_EQ(by_device(reports).at(cuda(1)).released, 3_GiB);
}

TEST(Caches, AreNotReleasedWhereSomethingMayBeInFlight) {
    const auto family = std::make_shared<Sibling::Family>(Sibling::Family{{cuda(0), 1_GiB}});
    const auto stuck = std::make_shared<Sibling>(cuda(0), family);
    stuck->is_stuck = true;
    const auto reports = empty_caches(
        device::DeviceSet({stuck}), {}, EmptyingCall::forced,
        [](DeviceId) { return DevicePolicy{.memory_class = MemoryClass::discrete, .reserve = {}}; },
        {}, Log{});
    ASSERT_TRUE(reports.at(0).error.has_value());
    EXPECT_EQ(reports[0].released, 0_B);
    EXPECT_EQ(family->at(cuda(0)), 1_GiB);
}

TEST(Caches, AreReportedInWords) {
    const auto said = [](CacheReport report) {
        report.device = cuda(1);
        return to_string(report);
    };
    EXPECT_EQ(said({.action = CacheAction::release, .released = 3_GiB}),
              "cuda:1: released 3.00 GiB");
    EXPECT_EQ(said({.action = CacheAction::release, .released = 3_GiB, .kept = 1_GiB}),
              "cuda:1: released 3.00 GiB, 1.00 GiB kept for reuse");
    EXPECT_EQ(said({.action = CacheAction::synchronise, .kept = 1_GiB}),
              "cuda:1: idle, 1.00 GiB kept for reuse");
    EXPECT_EQ(said({}), "cuda:1: nothing to empty");
    EXPECT_EQ(said({.is_asleep = true}), "cuda:1: not in use, left alone");
    EXPECT_EQ(said({.kept = 1_GiB, .error = Error{.what = "cannot wait", .why = "it is lost"}}),
              "cuda:1: cannot wait: it is lost; 1.00 GiB still cached");
}

}  // namespace
}  // namespace ballast::residency
