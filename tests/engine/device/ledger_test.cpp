#include "ballast/engine/device/ledger.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace ballast::device {
namespace {

using namespace ballast::literals;

constexpr DeviceId kCard{DeviceKind::cuda, 0};

TEST(Ledger, CountsWhatIsHeldPerDeviceAndTag) {
    Ledger ledger;
    auto weights = ledger.reserve(kCard, 3_MiB, Tag::weights);
    auto activations = ledger.reserve(kCard, 1_MiB, Tag::activations);
    ASSERT_TRUE(weights.has_value());
    ASSERT_TRUE(activations.has_value());
    const auto use = ledger.snapshot().at(kCard);
    EXPECT_EQ(use.now, 4_MiB);
    EXPECT_EQ(use.tag(Tag::weights).now, 3_MiB);
    EXPECT_EQ(use.tag(Tag::activations).now, 1_MiB);
    EXPECT_FALSE(ledger.snapshot().contains(kCpu));
}

TEST(Ledger, ReleasesWhatAReservationHeldWhenItDies) {
    Ledger ledger;
    {
        const auto held = ledger.reserve(kCpu, 5_MiB, Tag::scratch);
    }
    EXPECT_EQ(ledger.snapshot().at(kCpu).now, 0_B);
    EXPECT_EQ(ledger.snapshot().at(kCpu).peak, 5_MiB);
}

TEST(Ledger, TellsWhatSimulationHoldsButCountsItNowhere) {
    Ledger ledger;
    ledger.set_limit(kCpu, 1_MiB);
    {
        const auto simulated = ledger.reserve(kCpu, 5_MiB, Tag::simulation);
        ASSERT_TRUE(simulated.has_value());
        const auto held = ledger.reserve(kCpu, 1_MiB, Tag::weights);
        EXPECT_TRUE(held.has_value());
        EXPECT_EQ(ledger.snapshot().at(kCpu).now, 1_MiB);
        EXPECT_EQ(ledger.snapshot().at(kCpu).tag(Tag::simulation).now, 5_MiB);
    }
    EXPECT_EQ(ledger.snapshot().at(kCpu).now, 0_B);
    EXPECT_EQ(ledger.snapshot().at(kCpu).peak, 1_MiB);
    EXPECT_EQ(ledger.snapshot().at(kCpu).tag(Tag::simulation).peak, 5_MiB);
}

TEST(Ledger, PeakIsTheLargestSumHeldAtOnceNotASumOfPeaks) {
    Ledger ledger;
    {
        const auto first = ledger.reserve(kCpu, 5_MiB, Tag::scratch);
    }
    {
        const auto second = ledger.reserve(kCpu, 4_MiB, Tag::weights);
    }
    EXPECT_EQ(ledger.snapshot().at(kCpu).peak, 5_MiB);
    EXPECT_EQ(ledger.snapshot().at(kCpu).tag(Tag::weights).peak, 4_MiB);
}

TEST(Ledger, RefusesBeyondTheLimitWithAllThreeFiguresAndTheHolders) {
    Ledger ledger;
    ledger.set_limit(kCard, 8_MiB);
    const auto held = ledger.reserve(kCard, 6_MiB, Tag::weights);
    const auto refused = ledger.reserve(kCard, 3_MiB, Tag::ring);
    ASSERT_FALSE(refused.has_value());
    const auto& error = refused.error();
    EXPECT_EQ(error.code, Code::does_not_fit);
    EXPECT_EQ(error.shortfall.at(kCard).needed, (3_MiB).count());
    EXPECT_EQ(error.shortfall.at(kCard).available, (2_MiB).count());
    EXPECT_EQ(error.shortfall.at(kCard).missing(), (1_MiB).count());
    EXPECT_NE(error.why.find("6.00 MiB weights"), std::string::npos) << error.why;
    EXPECT_NE(error.hint.find("cuda:0="), std::string::npos) << error.hint;
    EXPECT_EQ(ledger.snapshot().at(kCard).now, 6_MiB);
}

TEST(Ledger, GrantsExactlyUpToTheLimit) {
    Ledger ledger;
    ledger.set_limit(kCpu, 8_MiB);
    EXPECT_TRUE(ledger.reserve(kCpu, 8_MiB, Tag::weights).has_value());
    EXPECT_FALSE(ledger.reserve(kCpu, Bytes{(8_MiB).count() + 1}, Tag::weights).has_value());
}

TEST(Ledger, HugeRequestsDoNotWrapPastTheLimit) {
    Ledger ledger;
    ledger.set_limit(kCpu, 8_MiB);
    const auto held = ledger.reserve(kCpu, 1_MiB, Tag::weights);
    EXPECT_FALSE(ledger.reserve(kCpu, Bytes{~std::uint64_t{0}}, Tag::weights).has_value());
}

TEST(Ledger, ALimitBelowCurrentUseIsAcceptedAndBlocksFurtherReservations) {
    Ledger ledger;
    auto held = ledger.reserve(kCpu, 6_MiB, Tag::weights);
    EXPECT_EQ(ledger.set_limit(kCpu, 4_MiB), std::nullopt);
    EXPECT_FALSE(ledger.reserve(kCpu, 1_B, Tag::scratch).has_value());
    held->release();
    EXPECT_TRUE(ledger.reserve(kCpu, 4_MiB, Tag::scratch).has_value());
    EXPECT_EQ(ledger.set_limit(kCpu, std::nullopt), 4_MiB);
}

TEST(Ledger, MovedReservationsAreReleasedOnce) {
    Ledger ledger;
    auto first = ledger.reserve(kCpu, 2_MiB, Tag::weights);
    Reservation second = *std::move(first);
    Reservation third;
    third = std::move(second);
    EXPECT_EQ(ledger.snapshot().at(kCpu).now, 2_MiB);
    third.release();
    third.release();
    EXPECT_EQ(ledger.snapshot().at(kCpu).now, 0_B);
}

TEST(Ledger, ResetPeaksStartsFromWhatIsHeldNow) {
    Ledger ledger;
    const auto held = ledger.reserve(kCpu, 1_MiB, Tag::weights);
    {
        const auto brief = ledger.reserve(kCpu, 9_MiB, Tag::scratch);
    }
    ledger.reset_peaks();
    EXPECT_EQ(ledger.snapshot().at(kCpu).peak, 1_MiB);
    EXPECT_EQ(ledger.snapshot().at(kCpu).tag(Tag::scratch).peak, 0_B);
}

TEST(Ledger, RandomSequencesKeepTheBooksBalanced) {
    std::mt19937_64 random(7);
    Ledger ledger;
    ledger.set_limit(kCpu, 1_MiB);
    std::vector<Reservation> held;
    std::map<Tag, std::uint64_t> expected;
    std::uint64_t total = 0;
    for (int step = 0; step < 10'000; ++step) {
        if (held.empty() || random() % 2 == 0) {
            const auto tag = static_cast<Tag>(random() % (kTags - 1));  // all but simulation
            const Bytes bytes{random() % 100'000};
            auto granted = ledger.reserve(kCpu, bytes, tag);
            ASSERT_EQ(granted.has_value(), total + bytes.count() <= (1_MiB).count());
            if (!granted) continue;
            total += bytes.count();
            held.push_back(*std::move(granted));
        } else {
            const auto at = random() % held.size();
            total -= held[at].bytes().count();
            std::swap(held[at], held.back());
            held.pop_back();
        }
        const auto use = ledger.snapshot().at(kCpu);
        ASSERT_EQ(use.now.count(), total);
        std::uint64_t by_tag = 0;
        for (const auto& tagged : use.by_tag) by_tag += tagged.now.count();
        ASSERT_EQ(by_tag, total);
        ASSERT_LE(use.peak, 1_MiB);
    }
}

TEST(Ledger, ManyThreadsNeverExceedTheLimit) {
    Ledger ledger;
    ledger.set_limit(kCpu, 64_KiB);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&ledger] {
                for (int round = 0; round < 2'000; ++round)
                    const auto held = ledger.reserve(kCpu, 20_KiB, Tag::scratch);
            });
    }
    const auto use = ledger.snapshot().at(kCpu);
    EXPECT_EQ(use.now, 0_B);
    EXPECT_LE(use.peak, 64_KiB);
}

}  // namespace
}  // namespace ballast::device
