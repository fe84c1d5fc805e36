#include "ballast/runtime/nodes/shortage.hpp"

#include <gmock/gmock.h>

#include <new>
#include <optional>

#include "tests/support/session.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::NodeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Way {
    std::string how;
    int size = 0;
};

class FirstThatFits : public ::testing::Test {
protected:
    /// Tries sizes 3, 2 and 1 with work that succeeds up to `room`.
    template <typename Refuse>
    Outcome<int, Way> run(int room, const Refuse& refuse) {
        return first_that_fits(context,
                               std::vector<Way>{{"big", 3}, {"in two", 2}, {"in three", 1}},
                               [&](const Way& way) {
                                   if (way.size > room) refuse();
                                   return way.size * 10;
                               });
    }
    [[noreturn]] static void refuse_by_limit() {
        throw Failure(Error{.code = Code::out_of_memory, .what = "x", .why = "the limit"});
    }

    NodeHost host;
    Context context{host.session(), host.notes};
};

TEST_F(FirstThatFits, TakesTheFirstWayWithoutAWord) {
    const auto done = run(3, refuse_by_limit);
    EXPECT_EQ(done.result, 30);
    EXPECT_EQ(done.way.how, "big");
    EXPECT_THAT(host.notes.warnings, IsEmpty());
}

TEST_F(FirstThatFits, GoesOnForTheLimitAndForTheSystemAlike) {
    EXPECT_EQ(run(2, refuse_by_limit).result, 20);
    EXPECT_THAT(host.notes.warnings,
                ElementsAre(AllOf(HasSubstr("again in two"), HasSubstr("the limit"))));
    host.notes.warnings.clear();
    const auto done = run(1, [] { throw std::bad_alloc(); });
    EXPECT_EQ(done.way.how, "in three");
    EXPECT_THAT(host.notes.warnings,
                ElementsAre(HasSubstr("again in two"), HasSubstr("again in three")));
}

TEST_F(FirstThatFits, FailsAsTheLastWayDoes) {
    EXPECT_THROW(run(0, [] { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_THROW(run(0, refuse_by_limit), Failure);
}

TEST_F(FirstThatFits, RepeatsNoOtherFailure) {
    const auto stop = [] { throw Failure(Error{.code = Code::interrupted, .what = "x"}); };
    EXPECT_THROW(run(0, stop), Failure);
    EXPECT_THAT(host.notes.warnings, IsEmpty());
}

}  // namespace
}  // namespace ballast::runtime::nodes
