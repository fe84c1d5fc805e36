#include "ballast/graph/result_cache.hpp"

#include <gmock/gmock.h>

#include "tests/graph/execution_support.hpp"

namespace ballast::graph {
namespace {

using Kind = CachePolicy::Kind;
using testing::Trace;
using Keys = std::vector<std::optional<Digest>>;

class ResultCacheTest : public ::testing::Test {
protected:
    NodeResult result(Bytes bytes) {
        return {.outputs = {std::make_shared<Trace>("x", bytes, alive_), nullptr}, .ui = {}};
    }
    [[nodiscard]] Bytes charged() const {
        const auto snapshot = ledger_.snapshot();
        const auto cpu = snapshot.find(kCpu);
        return cpu == snapshot.end() ? Bytes{} : cpu->second.tag(device::Tag::results).now;
    }

    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
    device::Ledger ledger_;
    const Digest a_ = sha256("a");
    const Digest b_ = sha256("b");
    const Digest c_ = sha256("c");
};

TEST_F(ResultCacheTest, FindsWhatWasStored) {
    ResultCache cache({}, nullptr);
    EXPECT_EQ(cache.find(a_), nullptr);
    ASSERT_TRUE(cache.store(a_, result(Bytes{5})));
    ASSERT_NE(cache.find(a_), nullptr);
    EXPECT_EQ(cache.find(a_)->outputs.at(0)->bytes(), Bytes{5});
    EXPECT_EQ(cache.find(b_), nullptr);
    EXPECT_EQ(cache.bytes(), Bytes{5});
}

TEST_F(ResultCacheTest, ClassicKeepsWhatTheNextWorkflowHas) {
    ResultCache cache({}, &ledger_);
    cache.begin_run({});
    ASSERT_TRUE(cache.store(a_, result(Bytes{5})));
    ASSERT_TRUE(cache.store(b_, result(Bytes{7})));
    EXPECT_EQ(charged(), Bytes{12});
    cache.begin_run(Keys{b_, std::nullopt, c_});
    EXPECT_EQ(cache.find(a_), nullptr);
    EXPECT_NE(cache.find(b_), nullptr);
    EXPECT_EQ(charged(), Bytes{7});
    EXPECT_EQ(*alive_, 1);
}

TEST_F(ResultCacheTest, LruKeepsTheMostRecentRunsWithinItsSize) {
    ResultCache cache({Kind::lru, 2}, &ledger_);
    cache.begin_run(Keys{a_});
    ASSERT_TRUE(cache.store(a_, result(Bytes{1})));
    cache.begin_run(Keys{b_});
    ASSERT_TRUE(cache.store(b_, result(Bytes{2})));
    cache.begin_run(Keys{a_, c_});  // two results: nothing goes, and a is young again
    ASSERT_TRUE(cache.store(c_, result(Bytes{4})));
    EXPECT_EQ(cache.size(), 3U);  // results of the current run are kept beyond the size
    cache.begin_run(Keys{c_});
    EXPECT_EQ(cache.find(b_), nullptr);
    EXPECT_NE(cache.find(a_), nullptr);
    EXPECT_NE(cache.find(c_), nullptr);
    EXPECT_EQ(charged(), Bytes{5});
}

TEST_F(ResultCacheTest, NoneKeepsNothing) {
    ResultCache cache({Kind::none, 0}, &ledger_);
    cache.begin_run(Keys{a_});
    ASSERT_TRUE(cache.store(a_, result(Bytes{1})));
    EXPECT_EQ(cache.find(a_), nullptr);
    EXPECT_EQ(*alive_, 0);
    EXPECT_EQ(charged(), Bytes{});
}

TEST_F(ResultCacheTest, ChargesSharedValuesOnce) {
    ResultCache cache({}, &ledger_);
    const auto shared = result(Bytes{10});
    ASSERT_TRUE(cache.store(a_, shared));
    ASSERT_TRUE(cache.store(b_, {.outputs = {shared.outputs[0], shared.outputs[0]}, .ui = {}}));
    EXPECT_EQ(charged(), Bytes{10});
    EXPECT_EQ(cache.bytes(), Bytes{10});
    cache.begin_run(Keys{b_});
    EXPECT_EQ(charged(), Bytes{10});
    cache.begin_run({});
    EXPECT_EQ(charged(), Bytes{});
}

TEST_F(ResultCacheTest, ReplacesAResultAndItsCharge) {
    ResultCache cache({}, &ledger_);
    ASSERT_TRUE(cache.store(a_, result(Bytes{10})));
    ASSERT_TRUE(cache.store(a_, result(Bytes{20})));
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(charged(), Bytes{20});
    EXPECT_EQ(*alive_, 1);
}

TEST_F(ResultCacheTest, RefusesWhatTheLedgerRefusesAndChangesNothing) {
    ledger_.set_limit(kCpu, Bytes{25});
    ResultCache cache({}, &ledger_);
    ASSERT_TRUE(cache.store(a_, result(Bytes{10})));
    const NodeResult two{.outputs = {result(Bytes{10}).outputs[0], result(Bytes{10}).outputs[0]},
                         .ui = {}};
    const auto stored = cache.store(b_, two);
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code, Code::does_not_fit);
    EXPECT_EQ(cache.find(b_), nullptr);
    EXPECT_EQ(charged(), Bytes{10});
    // in place of a former result, too
    EXPECT_FALSE(cache.store(a_, two));
    EXPECT_NE(cache.find(a_), nullptr);
    EXPECT_EQ(charged(), Bytes{10});
}

TEST_F(ResultCacheTest, GivesEverythingBackWhenCleared) {
    ResultCache cache({}, &ledger_);
    ASSERT_TRUE(cache.store(a_, result(Bytes{10})));
    cache.clear();
    EXPECT_EQ(cache.size(), 0U);
    EXPECT_EQ(charged(), Bytes{});
    EXPECT_EQ(*alive_, 0);
}

}  // namespace
}  // namespace ballast::graph
