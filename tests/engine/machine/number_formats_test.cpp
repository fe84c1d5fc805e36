#include "ballast/engine/machine/number_formats.hpp"

#include <gtest/gtest.h>

namespace ballast::machine {
namespace {

using namespace ballast::literals;
using Types = std::vector<std::string>;

DeviceProfile device(DeviceKind kind, std::string capability = "", std::string name = "",
                     Types types = {}) {
    DeviceProfile made;
    made.id = {kind, 0};
    made.name = std::move(name);
    made.capability = std::move(capability);
    made.types = std::move(types);
    return made;
}

DeviceProfile nvidia(std::string capability, std::string name = "", Types types = {}) {
    auto made = device(DeviceKind::cuda, std::move(capability), std::move(name), std::move(types));
    made.vendor = "nvidia";
    return made;
}

DeviceProfile amd(std::string capability, Types types = {}) {
    auto made = device(DeviceKind::cuda, std::move(capability), "", std::move(types));
    made.vendor = "amd";
    return made;
}

FormatQuestion about(DeviceProfile made) {
    FormatQuestion question;
    question.device = std::move(made);
    question.max_weights = 1e9;
    return question;
}

FormatQuestion unnamed(FormatQuestion question) {
    question.is_named = false;
    return question;
}
FormatQuestion forcing_fp16(FormatQuestion question) {
    question.options.force_fp16 = true;
    return question;
}
FormatQuestion forcing_fp32(FormatQuestion question) {
    question.options.force_fp32 = true;
    return question;
}
FormatQuestion on(FormatQuestion question, System system, std::string version = "") {
    question.system = system;
    question.system_version = std::move(version);
    return question;
}
FormatQuestion cast(FormatQuestion question, double params = 0) {
    question.manual_cast = true;
    question.params = params;
    return question;
}
FormatQuestion cast_for_memory(FormatQuestion question) {
    question.prioritise_performance = false;
    return cast(std::move(question));
}

struct Case {
    const char* row;
    FormatQuestion question;
    bool usable;
};

const auto kCpu = device(DeviceKind::cpu);

TEST(Fp16Usable, FollowsTheTableRowByRow) {
    const auto gtx1080 = about(nvidia("6.1", "NVIDIA GeForce GTX 1080"));
    const auto p100 = about(nvidia("6.0", "Tesla P100-PCIE-16GB"));
    const auto pascal = about(nvidia("6.1", "NVIDIA Quadro GV"));
    const auto turing = about(nvidia("7.5", "NVIDIA GeForce RTX 2080"));
    const auto gtx1660 = about(nvidia("7.5", "NVIDIA GeForce GTX 1660"));
    const Case cases[] = {
        {"1", about(kCpu), false},
        {"1 before 2", forcing_fp16(about(kCpu)), false},
        {"2", forcing_fp16(about(nvidia("5.2"))), true},
        {"2, the machine", forcing_fp16(unnamed(about(kCpu))), true},
        {"2 before 3", forcing_fp32(forcing_fp16(turing)), true},
        {"3", forcing_fp32(about(nvidia("9.0"))), false},
        {"3 before 4", forcing_fp32(about(device(DeviceKind::directml))), false},
        {"4", about(device(DeviceKind::directml)), true},
        {"5", about(device(DeviceKind::mps)), true},
        {"6", unnamed(about(kCpu)), false},
        {"7", about(device(DeviceKind::xpu, "", "", {"fp32", "fp16"})), true},
        {"7, not reported", about(device(DeviceKind::xpu, "", "", {"fp32"})), false},
        {"8, NPU", about(device(DeviceKind::npu)), true},
        {"8, MLU", about(device(DeviceKind::mlu)), true},
        {"8, CoreX", about(device(DeviceKind::corex)), true},
        {"9", about(amd("gfx803")), true},
        {"9, unknown", about(amd("")), true},
        {"10", about(nvidia("8.0")), true},
        {"10, two digits", about(nvidia("12.0")), true},
        {"11", about(nvidia("5.2", "GeForce GTX 980")), false},
        {"11 before 13", cast(about(nvidia("5.2")), 1e12), false},
        {"12", gtx1080, false},
        {"12, Windows", on(gtx1080, System::windows), true},
        {"12, WSL2", on(gtx1080, System::wsl2), false},
        {"12, manual cast", cast(gtx1080), true},
        {"12, lower case", p100, false},
        {"13, no priority", cast_for_memory(pascal), true},
        {"13, too large", cast(pascal, 0.25e9 + 1), true},
        {"13, just fits", cast(pascal, 0.25e9), false},
        {"13, not cast", pascal, false},
        {"13 before 15", cast_for_memory(gtx1660), true},
        {"14", about(nvidia("6.2", "something")), false},
        {"15", gtx1660, false},
        {"15, as written", about(nvidia("7.5", "NVIDIA T500")), false},
        {"15, other case", about(nvidia("7.5", "NVIDIA t500")), true},
        {"16", turing, true},
        {"16, Volta", about(nvidia("7.0", "Tesla V100")), true},
    };
    for (const auto& c : cases) EXPECT_EQ(fp16_usable(c.question), c.usable) << "row " << c.row;
}

TEST(Fp16Usable, KnowsEveryNameOfTheTwoLists) {
    for (const auto* name :
         {"GTX 1080", "GTX 1070", "TITAN X", "P3000", "P3200", "P4000", "P4200", "P5000", "P5200",
          "P6000", "GTX 1060", "GTX 1050", "P40", "P100", "P6", "P4"}) {
        const auto question = about(nvidia("6.1", name));
        EXPECT_FALSE(fp16_usable(question)) << name;
        EXPECT_TRUE(fp16_usable(on(question, System::windows))) << name;
    }
    for (const auto* name : {"1660", "1650", "1630", "T500", "T550", "T600", "MX550", "MX450",
                             "CMP 30HX", "T2000", "T1000", "T1200"})
        EXPECT_FALSE(fp16_usable(about(nvidia("7.5", name)))) << name;
}

TEST(Fp16Usable, TakesADeviceOfUnknownCapabilityAtItsWord) {
    EXPECT_FALSE(fp16_usable(about(nvidia(""))));
    EXPECT_FALSE(fp16_usable(about(nvidia("", "", {"fp32", "bf16"}))));
    EXPECT_TRUE(fp16_usable(about(nvidia("", "", {"fp32", "fp16"}))));
    EXPECT_TRUE(fp16_usable(about(nvidia("eight", "", {"fp16"}))));
    EXPECT_FALSE(fp16_usable(about(device(DeviceKind::privateuseone))));
}

TEST(Fp16Usable, DoesNotUseANameThatTheDriverCannotTell) {
    auto question = about(nvidia("7.5", "NVIDIA GeForce GTX 1660"));
    question.device.query_fails = {Query::name};
    EXPECT_TRUE(fp16_usable(question));
}

TEST(Bf16Usable, FollowsTheTableRowByRow) {
    const auto turing = about(nvidia("7.5", "", {"fp16", "bf16"}));
    const auto silent_turing = about(nvidia("7.5", "", {"fp16"}));
    const auto mac = about(device(DeviceKind::mps));
    const Case cases[] = {
        {"1", about(kCpu), false},
        {"2, fp32", forcing_fp32(about(nvidia("9.0"))), false},
        {"2, DirectML", about(device(DeviceKind::directml)), false},
        {"3", on(mac, System::macos, "14.5"), true},
        {"3, whole version", on(mac, System::macos, "14"), true},
        {"3, too old", on(mac, System::macos, "13.6.1"), false},
        {"3, unknown", on(mac, System::macos), false},
        {"4", unnamed(about(kCpu)), false},
        {"5", about(device(DeviceKind::xpu, "", "", {"bf16"})), true},
        {"5, not reported", about(device(DeviceKind::xpu, "", "", {"fp16"})), false},
        {"6, NPU", about(device(DeviceKind::npu)), true},
        {"6, CoreX", about(device(DeviceKind::corex)), true},
        {"7", about(amd("gfx1030")), false},
        {"7, manual cast", cast(about(amd("gfx1030"))), true},
        {"7, with features", about(amd("gfx906:sramecc+:xnack-")), false},
        {"8", about(device(DeviceKind::mlu, "5.0")), true},
        {"8, too old", about(device(DeviceKind::mlu, "3.7")), false},
        {"9", about(nvidia("8.6")), true},
        {"9, AMD", about(amd("gfx1151")), true},
        {"9, AMD with a letter", about(amd("gfx90a:sramecc+")), true},
        {"10, no priority", cast_for_memory(turing), true},
        {"10, too large", cast(turing, 0.25e9 + 1), true},
        {"10, just fits", cast(turing, 0.25e9), false},
        {"10, not reported", cast_for_memory(silent_turing), false},
        {"11", turing, false},
        {"11, AMD", about(amd("gfx701")), false},
    };
    for (const auto& c : cases) EXPECT_EQ(bf16_usable(c.question), c.usable) << "row " << c.row;
}

TEST(Bf16Usable, KnowsEveryAmdArchitectureWithoutIt) {
    for (const auto* name :
         {"gfx1030", "gfx1031", "gfx1010", "gfx1011", "gfx1012", "gfx906", "gfx900", "gfx803"}) {
        EXPECT_FALSE(bf16_usable(about(amd(name)))) << name;
        EXPECT_TRUE(bf16_usable(cast(about(amd(name))))) << name;
    }
}

TEST(Bf16Usable, TakesADeviceOfUnknownCapabilityAtItsWord) {
    for (const auto& made : {nvidia(""), amd(""), amd("11.0"), device(DeviceKind::mlu)}) {
        EXPECT_FALSE(bf16_usable(about(made)));
        auto reporting = made;
        reporting.types = {"bf16"};
        EXPECT_TRUE(bf16_usable(about(reporting)));
    }
    EXPECT_TRUE(bf16_usable(about(device(DeviceKind::mps, "", "", {"bf16"}))));
}

TEST(HardwareFp8, NeedsAdaOrRdna4OrAClaim) {
    const auto has = [](const DeviceProfile& made) { return has_hardware_fp8(made, {}); };
    EXPECT_TRUE(has(nvidia("9.0")));
    EXPECT_TRUE(has(nvidia("12.1")));
    EXPECT_TRUE(has(nvidia("8.9")));
    EXPECT_FALSE(has(nvidia("8.6")));
    EXPECT_FALSE(has(nvidia("7.5", "", {"fp8"})));
    EXPECT_TRUE(has(amd("gfx1200")));
    EXPECT_TRUE(has(amd("gfx1201")));
    EXPECT_TRUE(has(amd("gfx950:sramecc+")));
    EXPECT_FALSE(has(amd("gfx1151")));
    EXPECT_FALSE(has(device(DeviceKind::mlu, "9.0")));
    EXPECT_FALSE(has(kCpu));
    EXPECT_TRUE(has_hardware_fp8(kCpu, {.supports_fp8_compute = true}));
}

TEST(HardwareFp8, TakesADeviceOfUnknownCapabilityAtItsWord) {
    EXPECT_FALSE(has_hardware_fp8(nvidia(""), {}));
    EXPECT_TRUE(has_hardware_fp8(nvidia("", "", {"fp8"}), {}));
    EXPECT_TRUE(has_hardware_fp8(amd("", {"fp8_e4m3fn"}), {}));
    EXPECT_FALSE(has_hardware_fp8(nvidia("", "", {"fp80"}), {}));
}

TEST(Nvfp4, NeedsBlackwell) {
    EXPECT_TRUE(has_nvfp4(nvidia("10.0")));
    EXPECT_TRUE(has_nvfp4(nvidia("12.0")));
    EXPECT_FALSE(has_nvfp4(nvidia("9.0")));
    EXPECT_FALSE(has_nvfp4(amd("gfx1151")));
    EXPECT_FALSE(has_nvfp4(nvidia("")));
    EXPECT_TRUE(has_nvfp4(nvidia("", "", {"nvfp4"})));
}

TEST(MaxWeights, IsMostOfTheTotalLessWhatInferenceNeeds) {
    auto card = nvidia("8.6");
    EXPECT_DOUBLE_EQ(max_weights(card, 1e9), -1e9);
    card.total = 24_GiB;
    EXPECT_NEAR(max_weights(card, 1'278'423'859.2), 21'399'003'463.7, 0.05);
    card.query_fails = {Query::total};
    EXPECT_DOUBLE_EQ(max_weights(card, 1e9), -1e9);
}

TEST(QuestionAbout, TakesSystemOptionsAndReserve) {
    MachineProfile machine;
    machine.system = System::windows;
    machine.system_version = "11";
    auto card = nvidia("8.6");
    card.total = 24_GiB;
    MemoryOptions options;
    options.formats.unet = "bf16";
    const auto question = question_about(card, machine, options);
    EXPECT_EQ(question.device, card);
    EXPECT_EQ(question.system, System::windows);
    EXPECT_EQ(question.system_version, "11");
    EXPECT_EQ(question.options.unet, "bf16");
    EXPECT_DOUBLE_EQ(question.max_weights, max_weights(card, 1'592'996'659.2));
    options.reserve = Reserve{0_B};
    EXPECT_DOUBLE_EQ(question_about(card, machine, options).max_weights,
                     max_weights(card, 858'993'459.2));
}

TEST(NumberFormat, HasANameAndASize) {
    using enum NumberFormat;
    const struct {
        NumberFormat format;
        const char* name;
        Bytes bytes;
        bool fp8;
    } rows[] = {
        {fp32, "fp32", 4_B, false},
        {fp64, "fp64", 8_B, false},
        {fp16, "fp16", 2_B, false},
        {bf16, "bf16", 2_B, false},
        {fp8_e4m3fn, "fp8_e4m3fn", 1_B, true},
        {fp8_e5m2, "fp8_e5m2", 1_B, true},
        {fp8_e8m0fnu, "fp8_e8m0fnu", 1_B, true},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(to_string(row.format), row.name);
        EXPECT_EQ(parse_number_format(row.name), row.format);
        EXPECT_EQ(bytes_of(row.format), row.bytes) << row.name;
        EXPECT_EQ(is_fp8(row.format), row.fp8) << row.name;
    }
    EXPECT_EQ(parse_number_format("FP16"), std::nullopt);
    EXPECT_EQ(parse_number_format(""), std::nullopt);
    EXPECT_EQ(bytes_of(std::nullopt), 4_B);
}

}  // namespace
}  // namespace ballast::machine
