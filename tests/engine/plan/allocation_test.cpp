#include "ballast/engine/plan/allocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace ballast::literals;
using namespace testing;
using ::testing::HasSubstr;

constexpr DeviceId kMps{DeviceKind::mps, 0};
constexpr DeviceId kDisk{DeviceKind::disk, 0};

Error refusal(const std::string& text, const AllocationContext& context = system_a()) {
    const auto policy = parse_allocation(text, context);
    EXPECT_FALSE(policy.has_value()) << "accepted: " << text;
    return policy ? Error{} : policy.error();
}

/// The printed line of the refusal.
std::string line(const std::string& text) { return to_string(refusal(text)); }

Policy read(const std::string& text) { return policy_of(text, system_a()); }

std::vector<std::string> amounts(const Policy& policy) {
    std::vector<std::string> found;
    for (const auto& entry : policy.entries)
        found.push_back(to_string(entry.device) + " " +
                        (policy.mode == Mode::bytes ? std::to_string(entry.bytes.count())
                                                    : entry.number.text()));
    return found;
}

using Texts = std::vector<std::string>;

TEST(Allocation, BytesAreCeilingsInTypedOrder) {
    const auto policy = read("cuda:1,2.5gb;cuda:0,3.0g;cpu,*");
    EXPECT_EQ(policy.mode, Mode::bytes);
    EXPECT_EQ(amounts(policy), (Texts{"cuda:1 2684354560", "cuda:0 3221225472"}));
    EXPECT_EQ(policy.rest, kCpu);
    EXPECT_FALSE(policy.advisory.has_value());
    EXPECT_EQ(policy.compute, cuda(0));
    EXPECT_TRUE(policy.warnings.empty());
}

TEST(Allocation, EveryUnitIsBinaryInAnyCase) {
    const std::vector<std::pair<std::string, std::uint64_t>> units{
        {"700b", 700},         {"3k", 3072},        {"3KB", 3072},         {"3 kib", 3072},
        {"3m", 3 << 20},       {"3Mb", 3 << 20},    {"3MiB", 3 << 20},     {"1g", 1 << 30},
        {"1gb", 1 << 30},      {"1\tGIB", 1 << 30}, {"2t", 1ULL << 41U},   {"2tb", 1ULL << 41U},
        {"2TiB", 1ULL << 41U}, {".5gb", 1 << 29},   {"5.gb", 5ULL << 30U}, {"00.50gb", 1 << 29},
        {"0.9b", 0},           {"1.9b", 1},         {"0.1gb", 107374182}};
    for (const auto& [typed, bytes] : units)
        EXPECT_EQ(read("cpu,1b;cuda:0," + typed + ";cuda:1,*"),
                  read("cpu,1b;cuda:0," + std::to_string(bytes) + "b;cuda:1,*"))
            << typed;
}

TEST(Allocation, APreferredRestKeepsItsAmountAsAdvice) {
    const auto policy = read("cuda:0,500mb;cuda:1,3.0g;cpu,5gb *");
    EXPECT_EQ(policy.rest, kCpu);
    EXPECT_EQ(policy.advisory, 5_GiB);
    EXPECT_EQ(amounts(policy), (Texts{"cuda:0 524288000", "cuda:1 3221225472"}));
}

TEST(Allocation, SharesAreNormalisedByTheirSum) {
    EXPECT_EQ(amounts(read("cuda:0,8%;cuda:1,8%;cpu,4%")),
              (Texts{"cuda:0 40", "cuda:1 40", "cpu 20"}));
    EXPECT_EQ(read("cuda:0,25%;cpu,75 %"), read("cuda:0,.1%;cpu,0.3%"));
    EXPECT_EQ(amounts(read("cuda:0,2%;cuda:1,2%;cpu,2%")),
              (Texts{"cuda:0 1", "cuda:1 1", "cpu 1"}));
    EXPECT_EQ(amounts(read("cuda:0,1%;cpu,7%")), (Texts{"cuda:0 12.5", "cpu 87.5"}));
    EXPECT_EQ(amounts(read("cuda:0,900%;cpu,0.0%")), (Texts{"cuda:0 100"}));
}

TEST(Allocation, PercentagesBesideARestMarkerAreOfTheModel) {
    const auto policy = read("cuda:0,50%;cuda:1,8%;cpu,*");
    EXPECT_EQ(policy.mode, Mode::ratio);
    EXPECT_EQ(amounts(policy), (Texts{"cuda:0 50", "cuda:1 8"}));
    EXPECT_EQ(policy.rest, kCpu);
    EXPECT_EQ(read("cuda:0,60%;cuda:1,40%;cpu,*").entries.size(), 2U);
    EXPECT_EQ(refusal("cuda:0,60%;cuda:1,40.1%;cpu,*").place.column, 19U);
}

TEST(Allocation, BareNumbersAreFractionsOfTheDevice) {
    const auto policy = read("cuda:0,0.1;cpu,0.50");
    EXPECT_EQ(policy.mode, Mode::fraction);
    EXPECT_EQ(amounts(policy), (Texts{"cuda:0 0.1", "cpu 0.5"}));
    EXPECT_EQ(read("cuda:0,1;cpu,*").entries[0].number.text(), "1");
    EXPECT_EQ(remainder_of(read("cuda:0,0.1")), kCpu);
}

TEST(Allocation, AWildcardAloneIsBytes) {
    const auto policy = read("cpu,*");
    EXPECT_EQ(policy.mode, Mode::bytes);
    EXPECT_TRUE(policy.entries.empty());
    EXPECT_EQ(policy.compute, cuda(0)) << "compute still on a GPU";
}

TEST(Allocation, NothingTypedIsNoDistribution) {
    for (const auto& text : {"", "  ", ";;", "#", " ; #", "#none", "#;"}) {
        EXPECT_EQ(read(text).mode, Mode::automatic) << text;
        EXPECT_EQ(read(text).compute, cuda(0)) << text;
    }
    EXPECT_EQ(read("#cuda:1").compute, cuda(1));
    EXPECT_EQ(read("#cuda:1;0;cpu").mode, Mode::automatic);
    EXPECT_EQ(read("#cuda:1;0.0000000001;cpu").mode, Mode::automatic) << "less than a byte";
}

TEST(Allocation, TheTailFreesGibOnTheComputeDevice) {
    const auto policy = read(" # CUDA:1 ; 4.0 ; cuda:0 , cpu ; ");
    EXPECT_EQ(policy.mode, Mode::virtual_vram);
    EXPECT_EQ(policy.compute, cuda(1));
    EXPECT_EQ(policy.virtual_bytes, 4_GiB);
    EXPECT_EQ(policy.donors, (std::vector{cuda(0), kCpu}));
    EXPECT_EQ(remainder_of(policy), kCpu);
    EXPECT_EQ(read("#;.5;cpu"), read("#None;0.5;cpu"));
    EXPECT_EQ(read("#cuda:0;128;cpu").virtual_bytes, 128_GiB);
}

TEST(Allocation, EntriesDecideAndTheTailOnlyNamesTheComputeDevice) {
    const auto policy = read("cuda:0,2gb;cpu,*#cuda:1;4.0;cpu");
    EXPECT_EQ(policy, read("cuda:0,2gb;cpu,*#cuda:1"));
    ASSERT_EQ(policy.warnings.size(), 1U);
    EXPECT_THAT(policy.warnings[0], HasSubstr("4.00 GiB to free is ignored"));
}

TEST(Allocation, BlanksCaseAndEmptyEntriesDoNotMatter) {
    const auto policy = read("cuda:0,2gb;cpu,*");
    for (const auto& text : {" CUDA:0 , 2GB ; cpu , * ", "cuda:0,2gb;cpu,*;",
                             ";;cuda:0,2gb;;cpu,*;;", "Cuda,2048mib;CPU,*", "cpu,*;cuda:0,2gb",
                             "\tcuda:0\t,\t2\tgb\t;cpu,*#cuda:0", "cuda:0,2gb;cuda:1,0;cpu,*#"})
        EXPECT_EQ(read(text), policy) << text;
}

TEST(Allocation, KindsWithoutAnIndexMeanTheFirst) {
    const auto context = machine({{{DeviceKind::xpu, 0}, gib(8)},
                                  {{DeviceKind::npu, 0}, gib(8)},
                                  {{DeviceKind::mlu, 0}, gib(8)},
                                  {{DeviceKind::directml, 0}, gib(8)},
                                  {{DeviceKind::corex, 0}, gib(8)},
                                  {kMps, gib(8)}},
                                 gib(32));
    EXPECT_EQ(
        policy_of("xpu,1b;npu,2b;mlu,3b;directml,4b;corex,5b;mps,6b;disk,*", context),
        policy_of("xpu:0,1b;npu:0,2b;mlu:0,3b;directml:0,4b;corex:0,5b;mps,6b;disk,*", context));
}

TEST(Allocation, DiskStoresOnlyAndHasNoFraction) {
    EXPECT_EQ(read("cuda:0,2gb;disk,*").rest, kDisk);
    EXPECT_EQ(read("#cuda:0;4;disk").donors, std::vector{kDisk});
    EXPECT_EQ(amounts(read("cuda:0,50%;disk,50%")), (Texts{"cuda:0 50", "disk 50"}));
    EXPECT_EQ(line("cpu,0.5;disk,0.5"),
              "allocation string, column 14 (\"disk,0.5\"): the memory of disk is unknown, so no "
              "fraction of it either");
    EXPECT_EQ(refusal("cpu,*#disk").place.column, 7U);
    EXPECT_THAT(line("cpu,*#disk"), HasSubstr("cannot compute"));
}

TEST(Allocation, AFractionNeedsAKnownTotal) {
    const auto context = machine({{cuda(0), std::nullopt}}, gib(64));
    EXPECT_EQ(refusal("cuda:0,0.5;cpu,*", context).place.column, 8U);
    EXPECT_EQ(policy_of("cuda:0,5gb;cpu,*", context).entries.size(), 1U);
}

TEST(Allocation, ZeroMeansNoBlocksThereInAnyMode) {
    EXPECT_EQ(read("cuda:0,0gb;cpu,*"), read("cpu,*"));
    EXPECT_EQ(read("cuda:0,0%;cpu,*"), read("cpu,*"));
    EXPECT_EQ(read("cuda:0,0.0;cpu,*"), read("cpu,*"));
    EXPECT_EQ(read("cuda:1,0;cuda:0,2gb;cpu,*"), read("cuda:0,2gb;cpu,*"));
    EXPECT_EQ(read("cuda:1,0;cuda:0,30%;cpu,*"), read("cuda:0,30%;cpu,*"));
    EXPECT_EQ(amounts(read("cuda:0,2gb;cpu,0")), (Texts{"cuda:0 2147483648", "cpu 0"}))
        << "what takes the remainder keeps its amount, to be compared with";
}

TEST(Allocation, TheErrorLineShowsColumnEntryAndReason) {
    EXPECT_EQ(line("cuda:0,2,5gb"),
              "allocation string, column 8 (\"cuda:0,2,5gb\"): ',' inside a number; write 2.5gb");
    const auto error = refusal("cpu,1gb; cuda:0,2,5gb ;");
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ(error.place.column, 17U);
    EXPECT_EQ(error.place.key, "cuda:0,2,5gb");
    EXPECT_FALSE(error.hint.empty());
}

/// Text, column, fragment of the reason.
struct Refusal {
    std::string text;
    std::size_t column;
    std::string mention;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class AllocationRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(AllocationRefusal, NamesColumnAndReason) {
    const auto& [text, column, mention] = GetParam();
    const auto error = refusal(text);
    EXPECT_EQ(error.place.column, column) << to_string(error);
    EXPECT_THAT(to_string(error), HasSubstr(mention));
    EXPECT_FALSE(error.hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Structure, AllocationRefusal,
    ::testing::Values(
        Refusal{"cuda:0", 7, "expected ','"}, Refusal{"cuda:0  ;cpu,*", 9, "expected ','"},
        Refusal{"cuda:0;cpu,*", 7, "expected ','"}, Refusal{"cuda:0 2gb;cpu,*", 8, "expected ','"},
        Refusal{"cuda:0/1gb;cpu/*", 7, "separator"},
        Refusal{"cuda:0,;cpu,*", 8, "expected an amount"},
        Refusal{"cuda:0, \t;cpu,*", 10, "expected an amount"},
        Refusal{"cpu,*;cuda:0,", 14, "expected an amount"}, Refusal{",2gb", 1, "expected a device"},
        Refusal{"cpu,*; ,2gb", 8, "expected a device"},
        Refusal{"cpu,*#cuda:0#cuda:1", 13, "second '#'"}, Refusal{"##", 2, "second '#'"},
        Refusal{"cpu,*#cuda:0,4", 13, "expected ';'"},
        Refusal{"#cuda:0;;cpu", 9, "expected the number of GiB"},
        Refusal{"#cuda:0;4.0", 12, "donor list is empty"},
        Refusal{"#cuda:0;4.0;", 13, "donor list is empty"},
        Refusal{"#cuda:0;4.0;cpu,", 17, "expected a device"},
        Refusal{"#cuda:0;4.0;,cpu", 13, "expected a device"},
        Refusal{"#cuda:0;4.0;cpu cuda:1", 17, "expected ','"},
        Refusal{"#cuda:0;4.0;cpu;cuda:1", 16, "expected the end"}));

INSTANTIATE_TEST_SUITE_P(
    Devices, AllocationRefusal,
    ::testing::Values(
        Refusal{"cuda:7,2gb;cpu,*", 1, "unknown device; present: cuda:0, cuda:1, cpu"},
        Refusal{"gpu0", 1, "unknown device; present: cuda:0, cuda:1, cpu"},
        Refusal{"cpu,*; gpu0,2gb", 8, "unknown device"},
        Refusal{"cuda:00,2gb", 1, "unknown device"}, Refusal{"cuda:01,2gb", 1, "unknown device"},
        Refusal{"cuda:,2gb", 1, "unknown device"}, Refusal{"cuda:00001,2gb", 1, "unknown device"},
        Refusal{"cuda:-1,2gb", 1, "unknown device"}, Refusal{"cpu:0,2gb", 1, "unknown device"},
        Refusal{"cuda:99999999999999999999,2gb", 1, "unknown device"},
        Refusal{"mps,2gb", 1, "unknown device"}, Refusal{"disk:0,*", 1, "unknown device"},
        Refusal{"privateuseone:0,2gb", 1, "unknown device"},
        Refusal{"cpu,*#cuda:7", 7, "unknown device"},
        Refusal{"#cuda:0;4;cuda:7,cpu", 11, "unknown device"},
        Refusal{"cuda:0,1gb;cuda:0,2gb;cpu,*", 12, "device listed twice"},
        Refusal{"cuda,1gb;cuda:0,2gb;cpu,*", 10, "device listed twice"},
        Refusal{"cpu,1gb;cpu,*", 9, "device listed twice"},
        Refusal{"#cuda:0;4;cpu,cuda:1,cpu", 22, "device listed twice"}));

INSTANTIATE_TEST_SUITE_P(
    Modes, AllocationRefusal,
    ::testing::Values(Refusal{"cuda:0,2gb;cpu,3", 12, "mixed modes: bytes and fraction"},
                      Refusal{"cuda:0,1gb; cuda:1,30%;cpu,*", 13, "mixed modes: bytes and ratio"},
                      Refusal{"cuda:0,0.1;cpu,30%", 12, "mixed modes: fraction and ratio"},
                      Refusal{"cuda:0,30%;cpu,5gb*", 12, "mixed modes: ratio and bytes"},
                      Refusal{"cuda:0,*;cpu,*", 10, "one rest marker"},
                      Refusal{"cuda:0,2gb*;cpu,*", 13, "one rest marker"}));

INSTANTIATE_TEST_SUITE_P(
    Values, AllocationRefusal,
    ::testing::Values(
        Refusal{"cuda:0,-2gb;cpu,*", 8, "negative"}, Refusal{"cuda:0, -10%;cpu,90%", 9, "negative"},
        Refusal{"cuda:0,-0.5;cpu,*", 8, "negative"}, Refusal{"cuda:0,-0;cpu,*", 8, "negative"},
        Refusal{"cuda:0,+2gb;cpu,*", 8, "sign"}, Refusal{"cuda:0,1e3gb;cpu,*", 8, "exponent"},
        Refusal{"cuda:0,1E-3;cpu,*", 8, "exponent"}, Refusal{"cuda:0,5gbxyz;cpu,*", 8, "5gbxyz"},
        Refusal{"cuda:0,5pb;cpu,*", 8, "unknown unit"},
        Refusal{"cuda:0,5bb;cpu,*", 8, "unknown unit"},
        Refusal{"cuda:0,5ib;cpu,*", 8, "unknown unit"},
        Refusal{"cuda:0,5 g b;cpu,*", 8, "unexpected"},
        Refusal{"cuda:0,1.2.3gb;cpu,*", 8, "decimal point"},
        Refusal{"cuda:0,.;cpu,*", 8, "not a number"},
        Refusal{"cuda:0,.gb;cpu,*", 8, "not a number"}, Refusal{"cuda:0,nan%;cpu,50%", 8, "nan"},
        Refusal{"cuda:0,nan;cpu,*", 8, "not a number"},
        Refusal{"cuda:0,inf;cpu,*", 8, "not a number"},
        Refusal{"cuda:0,-inf;cpu,*", 8, "not a number"},
        Refusal{"cuda:0,0x10;cpu,*", 8, "unknown unit"}, Refusal{"cuda:0,5;cpu,*", 8, "unit"},
        Refusal{"cuda:0,1.01;cpu,*", 8, "did you mean %?"},
        Refusal{"cuda:0,0.5*;cpu,1gb", 8, "needs a unit"},
        Refusal{"cuda:0,5%*;cpu,1%", 8, "unexpected"},
        Refusal{"cuda:0,5gb**;cpu,1gb", 8, "unexpected"}, Refusal{"cuda:0,**", 8, "not a number"},
        Refusal{"cuda:0,99999999999999999999gb;cpu,*", 8, "too large"},
        Refusal{"cuda:0,8388609tb;cpu,*", 8, "too large"},
        Refusal{"cuda:0,9223372036854775809b;cpu,*", 8, "too large"},
        Refusal{"cuda:0,0.0000000000000000000000000000001;cpu,*", 8, "more than 30 characters"},
        Refusal{"cuda:0,0%;cpu,0%", 8, "zero"}, Refusal{"cuda:0,0gb", 8, "zero"},
        Refusal{"cuda:0,0;cpu,0", 8, "zero"}, Refusal{"cuda:0,101%;cpu,*", 8, "more than 100"},
        Refusal{"#cuda:0;much;cpu", 9, "not a number"}, Refusal{"#cuda:0;-1;cpu", 9, "negative"},
        Refusal{"#cuda:0;4gb;cpu", 9, "not a number"},
        Refusal{"#cuda:0;nan;cpu", 9, "not a number"},
        Refusal{"#cuda:0;128.1;cpu", 9, "more than 128"},
        Refusal{"#cuda:0;1e1;cpu", 9, "exponent"}));

TEST(Allocation, TwoToThe63BytesAreTheMost) {
    EXPECT_EQ(read("cuda:0,9223372036854775808b;cpu,*").entries[0].bytes, Bytes{1ULL << 63U});
    EXPECT_EQ(read("cuda:0,8388608tb;cpu,*").entries[0].bytes, Bytes{1ULL << 63U});
}

TEST(Allocation, ColumnsCountCharactersNotBytes) {
    const auto error = refusal("cuda:0,1gb;d\u00e9j\u00e0,1gb");
    EXPECT_EQ(error.place.column, 12U);
    EXPECT_EQ(error.place.key, "d\u00e9j\u00e0,1gb");
    EXPECT_EQ(refusal("d\u00e9j\u00e0,1gb").place.column, 1U);
    EXPECT_EQ(refusal("cuda:0,1\u00b5;cpu").place.column, 8U);
    EXPECT_EQ(refusal("cuda:0,1gb;\xff,1gb").place.column, 12U);
}

TEST(Allocation, AnAmountBeyondTheDeviceIsAcceptedWithAWarning) {
    const auto policy = read("cuda:0,30gb;cpu,*");
    ASSERT_EQ(policy.warnings.size(), 1U);
    EXPECT_EQ(policy.warnings[0],
              "allocation string, column 8 (\"cuda:0,30gb\"): more than the 24.00 GiB of cuda:0");
}

TEST(Allocation, TheComputeDeviceIsNoDonorOfItsOwn) {
    const auto policy = read("#cuda:0;4.0;cuda:0,cpu");
    EXPECT_EQ(policy, read("#cuda:0;4.0;cpu"));
    ASSERT_EQ(policy.warnings.size(), 1U);
    EXPECT_THAT(policy.warnings[0], HasSubstr("column 13"));
    const auto alone = read("#cuda:0;4.0;cuda:0");
    EXPECT_EQ(alone.mode, Mode::automatic);
    EXPECT_EQ(alone.warnings.size(), 2U);
}

TEST(Allocation, HasALongestTextAndAMostOfEntries) {
    EXPECT_EQ(read(std::string(4096, ' ')).mode, Mode::automatic);
    const auto error = refusal("cpu,*" + std::string(4092, ';'));
    EXPECT_EQ(error.place.column, 4097U);
    EXPECT_LT(to_string(error).size(), 300U);

    AllocationContext context{.compute = cuda(0)};
    std::string text;
    for (int i = 0; i < 65; ++i) {
        context.devices.push_back({cuda(i), gib(1)});
        if (i < 64) text += "cuda:" + std::to_string(i) + ",1b;";
    }
    EXPECT_EQ(policy_of(text, context).entries.size(), 64U);
    EXPECT_EQ(refusal(text + "cuda:64,1b", context).place.column, text.size() + 1);
}

TEST(Allocation, ControlCharactersDoNotReachTheTerminal) {
    const auto shown = line("cuda:0,1\x1b[31mgb");
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_EQ(refusal("cuda:0,1gb\ncpu,*").place.column, 8U);
    EXPECT_EQ(refusal(std::string("cuda:0\0,1gb", 11)).place.column, 7U);
}

TEST(Allocation, TheContextOfAProfileHasTheHostLast) {
    machine::MachineProfile profile;
    profile.host.total = 64_GiB;
    EXPECT_EQ(allocation_context(profile).compute, kCpu);
    profile.devices.push_back({.id = cuda(1), .total = 24_GiB});
    const auto context = allocation_context(profile);
    EXPECT_EQ(context.compute, cuda(1));
    EXPECT_EQ(context.devices, (std::vector<PresentDevice>{{cuda(1), 24_GiB}, {kCpu, 64_GiB}}));
}

}  // namespace
}  // namespace ballast::plan
