#include "ballast/engine/plan/distribution_tables.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

/// A model, placed. Blocks without a type are Linear.
class Placed {
public:
    Placed(const std::string& text, const AllocationContext& context,
           const std::vector<PlacementBlock>& blocks,
           const std::map<std::string, std::string>& types = {}) {
        for (const auto& block : blocks)
            blocks_.push_back(
                {.name = block.name,
                 .bytes = block.bytes,
                 .type = types.contains(block.name) ? types.at(block.name) : "Linear"});
        const auto policy = policy_of(text, context);
        homes_ = place({.blocks = blocks, .policy = policy, .devices = context.devices}).homes;
        model_ = {.blocks = blocks_,
                  .homes = homes_,
                  .compute = policy.compute,
                  .policy = policy,
                  .devices = context.devices};
    }
    Placed(const Placed&) = delete;
    Placed& operator=(const Placed&) = delete;

    [[nodiscard]] Lines tables() const { return distribution_tables(model_); }
    [[nodiscard]] Lines warnings() const { return distribution_warnings(model_); }

    /// The rows between a table's second rule and the next one.
    [[nodiscard]] Lines rows(std::string_view title) const {
        const auto lines = tables();
        auto line = std::ranges::find_if(
            lines, [&](const auto& each) { return each.find(title) != std::string::npos; });
        for (int rules = 0; line != lines.end() && rules < 2; ++line)
            rules += line->find_first_not_of("-=") == std::string::npos ? 1 : 0;
        Lines found;
        for (; line != lines.end() && !line->starts_with('-'); ++line) found.push_back(*line);
        return found;
    }

private:
    std::vector<PlanBlock> blocks_;
    std::vector<DeviceId> homes_;
    DistributedModel model_;
};

constexpr auto kVirtual = "Virtual VRAM Analysis";
constexpr auto kGrants = "Device Allocations";
constexpr auto kTypes = "Layer Distribution";
constexpr auto kHomes = "Final Device/Layer Assignments";

TEST(DistributionTables, AreThoseOfTheOriginalToTheCharacter) {
    constexpr auto kExpected = R"(===============================================
    DisTorch2 Model Virtual VRAM Analysis
===============================================
Object   Role   Original(GB) Total(GB)  Virt(GB)
-----------------------------------------------
cuda:0   recip      24.00GB   28.00GB   +4.00GB
cpu      donor      64.00GB   60.00GB   -4.00GB
-----------------------------------------------
model    model       8.50GB    4.50GB   -4.00GB
==================================================
    DisTorch2 Model Device Allocations
==================================================
Device    VRAM GB    Dev %   Model GB    Dist %
--------------------------------------------------
cuda:0      24.00    18.7%       4.50     52.9%
cuda:1      24.00     0.0%       0.00      0.0%
cpu         64.00     6.2%       4.00     47.1%
--------------------------------------------------
    DisTorch2 Model Layer Distribution
--------------------------------------------------
Layer Type         Layers   Memory (MB)   % Total
--------------------------------------------------
Embedding               1        600.00      6.9%
Linear                 17       8100.00     93.1%
RMSNorm                 1          0.10      0.0%
--------------------------------------------------
DisTorch2 Model Final Device/Layer Assignments
--------------------------------------------------
Device             Layers   Memory (MB)   % Total
--------------------------------------------------
cuda:0 (<0.01%)         1          0.10      0.0%
cuda:0                  9       4600.00     52.9%
cpu                     9       4100.00     47.1%
--------------------------------------------------
)";
    const Placed placed("#cuda:0;4.0;cpu", system_a(), model_2(),
                        {{"E", "Embedding"}, {"n", "RMSNorm"}});
    std::string text;
    for (const auto& line : placed.tables()) text += line + '\n';
    EXPECT_EQ(text, kExpected);
    EXPECT_THAT(placed.warnings(), IsEmpty());
}

TEST(DistributionTables, OnlyVirtualMemoryHasItsTable) {
    const Placed placed("cuda:0,2.5gb;cuda:1,3.0g;cpu,*", system_a(), model_1());
    EXPECT_THAT(placed.tables(), Not(Contains(HasSubstr(kVirtual))));
    EXPECT_THAT(placed.rows(kGrants),
                ElementsAre("cuda:0      24.00    10.4%       2.50     25.0%",
                            "cuda:1      24.00    12.5%       3.00     30.0%",
                            "cpu         64.00     7.0%       4.50     45.0%"));
    EXPECT_THAT(placed.rows(kHomes),
                ElementsAre("cuda:0                  2       2048.00     20.0%",
                            "cuda:1                  3       3072.00     30.0%",
                            "cpu                     5       5120.00     50.0%"))
        << "no row of tiny blocks where there is none";
}

TEST(DistributionTables, AModelIsGrantedOnce) {
    const Placed placed("cuda:0,8gb;cuda:1,8gb;cpu,*", system_a(), model_1());
    EXPECT_THAT(placed.rows(kGrants),
                ElementsAre("cuda:0      24.00    33.3%       8.00     80.0%",
                            "cuda:1      24.00     8.3%       2.00     20.0%",
                            "cpu         64.00     0.0%       0.00      0.0%"));
}

TEST(DistributionTables, VirtualMemoryEndsWithTheModel) {
    const Placed placed("#cuda:0;2.0;cpu", system_a(), equal_blocks(3, mib(512)));
    EXPECT_THAT(placed.rows(kVirtual),
                ElementsAre("cuda:0   recip      24.00GB   25.50GB   +1.50GB",
                            "cpu      donor      64.00GB   62.50GB   -1.50GB"));
    EXPECT_THAT(placed.tables(), Contains("model    model       1.50GB    0.00GB   -1.50GB"));
}

TEST(DistributionTables, EachDonorHasARow) {
    const Placed placed("#cuda:0;6.0;cuda:1,cpu", system_t(), model_1());
    EXPECT_THAT(placed.rows(kVirtual),
                ElementsAre("cuda:0   recip      24.00GB   30.00GB   +6.00GB",
                            "cuda:1   donor       4.00GB    0.00GB   -4.00GB",
                            "cpu      donor      64.00GB   62.00GB   -2.00GB"));
}

TEST(DistributionTables, ADonorThatGivesMoreThanItHasShowsIt) {
    const Placed placed("#cuda:0;6.0;cuda:1", system_t(), model_1());
    EXPECT_THAT(placed.rows(kVirtual), Contains("cuda:1   donor       4.00GB   -2.00GB   -6.00GB"));
}

TEST(DistributionTables, AcceleratorsStandInTheOrderOfTheirTextsBeforeTheCpu) {
    std::vector<PresentDevice> cards;
    for (int i = 0; i < 11; ++i) cards.push_back({cuda(i), gib(24)});
    const Placed placed("cuda:2,2gb;cuda:10,2gb;cpu,*#cuda:2", machine(cards, gib(64)), model_1());
    Lines devices;
    for (const auto& row : placed.rows(kGrants)) devices.push_back(row.substr(0, row.find(' ')));
    EXPECT_THAT(devices, ElementsAre("cuda:0", "cuda:1", "cuda:10", "cuda:2", "cuda:3", "cuda:4",
                                     "cuda:5", "cuda:6", "cuda:7", "cuda:8", "cuda:9", "cpu"));
    EXPECT_THAT(placed.rows(kHomes),
                ElementsAre(StartsWith("cuda:10"), StartsWith("cuda:2"), StartsWith("cpu")));
}

TEST(DistributionTables, TheDiskHasNoSizeAndComesLast) {
    const Placed placed("cuda:0,4gb;disk,*", system_w(), model_1());
    EXPECT_THAT(placed.rows(kGrants),
                ElementsAre("cuda:0      24.00    16.7%       4.00     40.0%",
                            "cpu        512.00     0.0%       0.00      0.0%",
                            "disk            -        -       6.00     60.0%"));
    EXPECT_THAT(placed.rows(kHomes), ElementsAre(StartsWith("cuda:0   "), StartsWith("disk  ")));
    EXPECT_THAT(Placed("#cuda:0;4.0;disk", system_w(), model_1()).rows(kVirtual),
                Contains("disk     donor            -         -   -4.00GB"));
}

TEST(DistributionTables, BlocksThatCannotMoveCountOnce) {
    const Placed placed("cuda:0,2gb;cpu,*", system_a(), model_4());
    EXPECT_THAT(placed.rows(kHomes),
                ElementsAre("cuda:0 (<0.01%)         1          0.05      0.0%",
                            "cuda:0                  2       1900.00     48.7%",
                            "cpu                     2       2000.00     51.3%"));
}

TEST(DistributionTables, NamesOfTypesAreCutAndHarmless) {
    const Placed placed(
        "cuda:0,*", system_a(), equal_blocks(3, gib(1)),
        {{"B0", "MultiheadAttentionWithRotaryPositions"}, {"B1", "a\x1b[31m"}, {"B2", ""}});
    EXPECT_THAT(placed.rows(kTypes),
                ElementsAre("MultiheadAttention      1       1024.00     33.3%",
                            StartsWith("a\\x1b[31m"), StartsWith("Unknown           ")));
}

TEST(DistributionTables, ANameOfManyBytesIsCutBetweenCharacters) {
    std::string name;
    for (int i = 0; i < 20; ++i) name += "\u00e4";
    const Placed placed("cuda:0,*", system_a(), equal_blocks(1, gib(1)), {{"B0", name}});
    EXPECT_THAT(placed.rows(kTypes), ElementsAre(StartsWith(name.substr(0, 36) + "      1")));
}

TEST(DistributionTables, AnEmptyModelHasNoRowsAndDividesByNothing) {
    const Placed placed("#cuda:0;4.0;cpu", system_a(), {});
    EXPECT_THAT(placed.rows(kTypes), IsEmpty());
    EXPECT_THAT(placed.rows(kHomes), IsEmpty());
    EXPECT_THAT(placed.rows(kGrants), Contains("cpu         64.00     0.0%       0.00      0.0%"));
}

TEST(DistributionTables, WithoutARequestTheGrantsAreThePlacement) {
    const std::vector<PlanBlock> blocks{{.name = "a", .bytes = gib(1)},
                                        {.name = "b", .bytes = gib(3)}};
    const std::vector<DeviceId> homes{cuda(1), kCpu};
    const auto lines = distribution_tables({.blocks = blocks,
                                            .homes = homes,
                                            .compute = cuda(1),
                                            .policy = {},
                                            .devices = system_a().devices});
    EXPECT_THAT(lines, Contains("cuda:1      24.00     4.2%       1.00     25.0%"));
    EXPECT_THAT(lines, Contains("cpu         64.00     4.7%       3.00     75.0%"));
}

TEST(DistributionWarnings, AModelBeyondNineTenthsOfTheDeviceNeedsVirtualMemory) {
    const auto context = machine({{cuda(0), gib(10)}}, gib(64));
    EXPECT_THAT(Placed("#cuda:0;0.5;cpu", context, model_1()).warnings(),
                ElementsAre("[MultiGPU DisTorch V2] the model takes 10.00 GiB, more than nine "
                            "tenths of the memory of cuda:0 (9.00 GiB); it needs 1.00 GiB of "
                            "virtual VRAM or more, and has 0.50"));
    EXPECT_THAT(Placed("#cuda:0;0.5;cpu", context, equal_blocks(9, gib(1))).warnings(), IsEmpty())
        << "exactly nine tenths";
    EXPECT_THAT(Placed("cuda:0,1gb;cpu,*", context, model_1()).warnings(), IsEmpty());
}

TEST(DistributionLog, AnnouncesTheAllocationAndTellsTheSize) {
    EXPECT_THAT(allocation_lines("#cuda:0;4.0;cpu"),
                ElementsAre("[MultiGPU DisTorch V2] Final Allocation String:", "#cuda:0;4.0;cpu"));
    EXPECT_THAT(loaded_lines(Bytes{mib(87001).count() / 10}),
                ElementsAre("[MultiGPU DisTorch V2] DisTorch loading completed.",
                            "[MultiGPU DisTorch V2] Total memory: 8700.10MB"));
}

}  // namespace
}  // namespace ballast::plan
