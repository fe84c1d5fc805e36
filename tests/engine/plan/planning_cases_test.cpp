// Machines and models of others, from the reports that they came with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/plan/natural_order.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "tests/engine/plan/models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using nlohmann::json;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

json case_of(const std::string& name) {
    return json::parse(ballast::testing::content_of(BALLAST_TEST_DATA "/cases/" + name));
}

Bytes bytes_in(const json& from, const char* member) {
    return Bytes{from.at(member).get<std::uint64_t>()};
}

Bytes held(const Plan& plan, DeviceId device) {
    const auto found = plan.per_device.find(device);
    return found == plan.per_device.end() ? Bytes{} : found->second;
}

/// A small card and a large one.
class UnequalPair : public ::testing::Test {
protected:
    /// `small` and `large` are the names that the cards have.
    [[nodiscard]] Plan planned(std::size_t number, DeviceId small = cuda(0),
                               DeviceId large = cuda(1)) const {
        machine::MachineProfile profile;
        profile.host = {.total = gib(64), .available = bytes_in(file_.at("host"), "MemAvailable")};
        for (std::size_t i = 0; i < 2; ++i) {
            const auto& card = file_.at("devices").at(i);
            profile.devices.push_back({.id = i == 0 ? small : large,
                                       .vendor = "nvidia",
                                       .total = bytes_in(card, "runtime_total_bytes"),
                                       .free = bytes_in(card, "runtime_free_bytes"),
                                       .integrated = false,
                                       .capability = "8.6"});
        }
        std::ranges::sort(profile.devices, {}, &machine::DeviceProfile::id);
        const auto& wanted = file_.at("plans").at(number).at("request");
        const auto block = wanted.value("block_bytes", std::uint64_t{1} << 28U);
        PlanRequest request{.machine = plan_machine(profile, machine::assess(profile, {})),
                            .is_file_backed = wanted.value("backed_by_file", true),
                            .activations = bytes_in(wanted, "activation_bytes")};
        auto left = wanted.at("weights_bytes").get<std::uint64_t>();
        for (std::size_t i = 0; left > 0; ++i) {
            const auto size = std::min(left, block);
            request.blocks.push_back({.name = "B" + std::to_string(i), .bytes = Bytes{size}});
            left -= size;
        }
        return make_plan(request);
    }
    [[nodiscard]] const json& expected(std::size_t number) const {
        return file_.at("plans").at(number).at("expect");
    }

private:
    json file_ = case_of("10-unequal-pair.json");
};

TEST_F(UnequalPair, AModelThatOneCardHoldsGoesToThatCardAlone) {
    const auto plan = planned(0);
    EXPECT_EQ(plan.fits, expected(0).at("fits").get<bool>());
    EXPECT_EQ(to_string(plan.compute), expected(0).at("compute").get<std::string>());
    EXPECT_EQ(held(plan, cuda(0)), bytes_in(expected(0), "on_cuda0_bytes"));
    EXPECT_THAT(plan.homes, Each(cuda(1)));
    const auto swapped = planned(0, cuda(1), cuda(0));
    EXPECT_THAT(swapped.homes, Each(cuda(0))) << "no index is special";
}

TEST_F(UnequalPair, ALargerModelUsesBothAndLeavesRoomForActivations) {
    const auto plan = planned(1);
    EXPECT_EQ(plan.fits, expected(1).at("fits").get<bool>());
    EXPECT_EQ(to_string(plan.compute), expected(1).at("compute").get<std::string>());
    EXPECT_LE(held(plan, cuda(1)), bytes_in(expected(1), "on_cuda1_max_bytes"));
    EXPECT_LE(held(plan, cuda(0)), bytes_in(expected(1), "on_cuda0_max_bytes"));
    EXPECT_GT(held(plan, cuda(0)), Bytes{});
    Bytes sum;
    for (const auto& [device, bytes] : plan.per_device) sum += bytes;
    EXPECT_EQ(sum, bytes_in(expected(1), "sum_bytes"));
}

TEST_F(UnequalPair, AnImpossibleOneSaysWhatIsNeededAvailableAndMissing) {
    const auto plan = planned(2);
    EXPECT_EQ(plan.fits, expected(2).at("fits").get<bool>());
    ASSERT_FALSE(plan.shortfall.empty());
    ASSERT_FALSE(plan.explanation.empty());
    for (const auto& word : expected(2).at("message_has"))
        EXPECT_THAT(plan.explanation.back(), HasSubstr(word.get<std::string>()));
}

/// A model with several lists of blocks, and tensors beside them.
class CoverageOfNames : public ::testing::Test {
protected:
    CoverageOfNames() {
        std::vector<BlockTensor> tensors;
        for (const auto& each : file_.at("tensors")) {
            names_.push_back(each.at("name").get<std::string>());
            tensors.push_back({.name = names_.back(),
                               .type = ElementType::u8,
                               .shape = {each.at("bytes").get<std::int64_t>()},
                               .bytes = bytes_in(each, "bytes")});
        }
        // as a file of no known family is read
        std::ranges::sort(tensors, natural_less, &BlockTensor::name);
        table_ = group_into_blocks(tensors);
        for (const auto& [id, name] : {std::pair{cuda(0), "a"}, {cuda(1), "b"}, {kCpu, "cpu"}})
            for (const auto& device : file_.at("devices"))
                if (device.at("id") == name)
                    context_.devices.push_back({id, bytes_in(device, "bytes")});
        context_.compute = cuda(0);
    }

    [[nodiscard]] PlanRequest request(const std::string& text) const {
        PlanRequest made{.blocks = plan_blocks(table_), .policy = policy_of(text, context_)};
        for (const auto& device : context_.devices) {
            made.machine.devices.push_back(
                {.id = device.id, .total = device.total, .capacity = *device.total});
            for (const auto& other : context_.devices)
                if (other.id != device.id) made.machine.links.push_back({other.id, device.id});
        }
        return made;
    }

    json file_ = case_of("15-coverage-names.json");
    std::vector<std::string> names_;
    BlockTable table_;
    AllocationContext context_;
};

TEST_F(CoverageOfNames, EveryTensorIsPlannedOnce) {
    std::vector<std::string> found;
    Bytes sum;
    for (const auto& block : table_.blocks())
        for (const auto& tensor : block.tensors) {
            found.push_back(tensor.name);
            sum += tensor.bytes;
        }
    EXPECT_THAT(found, UnorderedElementsAreArray(names_));
    for (const auto* text : {"", "cuda:0,1200b;cuda:1,1200b;cpu,*", "cuda:0,50%;cuda:1,50%"}) {
        const auto plan = make_plan(request(text));
        ASSERT_EQ(plan.homes.size(), table_.blocks().size());
        Bytes planned;
        for (const auto& [device, bytes] : plan.per_device) planned += bytes;
        EXPECT_EQ(planned, sum) << text;
    }
}

TEST_F(CoverageOfNames, AllListsOfBlocksAreKnownAndBothLargeOnesAreSplit) {
    const auto plan = make_plan(request("cuda:0,1200b;cuda:1,1200b;cpu,*"));
    for (const auto& list : file_.at("expect").at("block_lists")) {
        const auto prefix = list.get<std::string>() + ".";
        std::set<DeviceId> homes;
        std::size_t members = 0;
        for (std::size_t i = 0; i < table_.blocks().size(); ++i)
            if (table_.blocks()[i].name.starts_with(prefix)) {
                ++members;
                homes.insert(plan.homes[i]);
            }
        EXPECT_GT(members, 0U) << prefix;
        if (members > 1) {
            EXPECT_GT(homes.size(), 1U) << prefix;
        }
    }
}

TEST_F(CoverageOfNames, LooseTensorsStayWhereTheModelComputes) {
    const auto loose = table_.find(kLooseBlock);
    ASSERT_TRUE(loose.has_value());
    EXPECT_EQ(table_[*loose].tensors.size(), 2U) << "the scalar and the marker of no bytes";
    for (const auto* text : {"cpu,*#cuda:0", "cuda:1,1200b;cpu,*#cuda:0", "#cuda:0;1;cpu"}) {
        const auto plan = make_plan(request(text));
        EXPECT_EQ(plan.homes[loose->index], plan.compute) << text;
        EXPECT_EQ(plan.pinned[loose->index], Pinned::loose);
    }
    EXPECT_TRUE(table_.find("model.layers.8").has_value())
        << "a scalar below a numbered layer is a block of its own";
}

TEST_F(CoverageOfNames, BlocksAreOrderedByNumberNotByText) {
    const auto place = [&](const char* name) { return table_.find(name).value().index; };
    EXPECT_LT(place("single_blocks.0.linear1"), place("single_blocks.1.linear1"));
    EXPECT_LT(place("single_blocks.1.linear1"), place("single_blocks.10.linear1"));
    EXPECT_LT(place("double_blocks.0.img_attn.qkv"), place("double_blocks.1.img_attn.qkv"));
}

}  // namespace
}  // namespace ballast::plan
