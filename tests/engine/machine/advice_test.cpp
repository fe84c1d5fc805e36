#include "ballast/engine/machine/advice.hpp"

#include <gmock/gmock.h>

#include <map>

#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

using testing::HasSubstr;

MachineProfile spark() {
    return machine_with(host_of(121.69, 110), nvidia("NVIDIA GB10", 121.69, true, true));
}
MachineProfile card() { return machine_with(host_of(64, 60), nvidia("NVIDIA Card", 24, false)); }

/// The finding about one variable of one value; topic empty if there is none.
Finding about(const MachineProfile& profile, const std::string& name, const std::string& value) {
    const Surroundings surroundings{
        .variable = [&](const std::string& asked) -> std::optional<std::string> {
            if (asked != name) return std::nullopt;
            return value;
        },
        .threads = 8};
    const auto findings = environment_findings(assess(profile, {}), surroundings);
    EXPECT_LE(findings.size(), 1U);
    return findings.empty() ? Finding{} : findings.front();
}

TEST(ReviewFindings, I4EveryVariableOfTheComposeFileIsJudged) {
    struct Row {
        const char* name;
        const char* value;
        Verdict on_pool;
        Verdict on_card;
    };
    using enum Verdict;
    for (const auto& row :
         {Row{"CUDA_CACHE_DISABLE", "1", hurts, hurts},
          Row{"CUDA_CACHE_MAXSIZE", "4294967296", good, good},
          Row{"PYTORCH_NO_CUDA_MEMORY_CACHING", "1", hurts, hurts},
          Row{"CUDA_DEVICE_MAX_CONNECTIONS", "1", hurts, hurts},
          Row{"CUDA_MODULE_LOADING", "EAGER", hurts, hurts},
          Row{"CUDA_MANAGED_FORCE_DEVICE_ALLOC", "1", nothing, nothing},
          Row{"OMP_NUM_THREADS", "20", hurts, hurts}, Row{"OMP_NUM_THREADS", "8", nothing, nothing},
          Row{"OMP_NUM_THREADS", "2", note, note},
          Row{"CUBLAS_WORKSPACE_CONFIG", ":0:0", hurts, hurts},
          Row{"TORCH_COMPILE_DISABLE", "1", nothing, nothing},
          Row{"TORCHDYNAMO_DISABLE", "1", nothing, nothing},
          Row{"NVIDIA_VISIBLE_DEVICES", "all", good, good},
          Row{"NVIDIA_VISIBLE_DEVICES", "none", broken, broken},
          Row{"NVIDIA_DRIVER_CAPABILITIES", "compute,utility", good, good},
          Row{"NVIDIA_DRIVER_CAPABILITIES", "utility", broken, broken},
          Row{"COMFYUI_FLAGS", "--disable-pinned-memory", good, hurts},
          Row{"COMFYUI_FLAGS", "--force-fp16", hurts, hurts},
          Row{"BALLAST_DISABLE_PINNED_MEMORY", "1", nothing, hurts}}) {
        EXPECT_EQ(to_string(about(spark(), row.name, row.value).verdict), to_string(row.on_pool))
            << row.name;
        EXPECT_EQ(to_string(about(card(), row.name, row.value).verdict), to_string(row.on_card))
            << row.name;
    }
    EXPECT_EQ(about(spark(), "CUDA_DEVICE_MAX_COPY_CONNECTIONS", "4").verdict, Verdict::nothing);
    EXPECT_EQ(about(spark(), "COMFYUI_FLAGS", "--disable-mmap").verdict, Verdict::hurts);
}

TEST(EnvironmentAdvice, SoundValuesAndUnknownVariablesSayNothing) {
    EXPECT_EQ(about(card(), "CUDA_CACHE_DISABLE", "0").topic, "");
    EXPECT_EQ(about(card(), "CUDA_DEVICE_MAX_CONNECTIONS", "8").topic, "");
    EXPECT_EQ(about(card(), "CUDA_MODULE_LOADING", "LAZY").topic, "");
    EXPECT_EQ(about(card(), "CUBLAS_WORKSPACE_CONFIG", ":4096:8").topic, "");
    EXPECT_EQ(about(card(), "SOMETHING", "1").topic, "");
}

std::string all_of(const MachineProfile& profile, const Surroundings& surroundings = {},
                   const MemoryOptions& options = {}) {
    std::string text;
    for (const auto& finding : memory_findings(profile, assess(profile, options), surroundings))
        text += std::string(to_string(finding.verdict)) + " " + finding.topic + ": " +
                finding.text + " / " + finding.remedy + "\n";
    return text;
}

TEST(MemoryAdvice, NamesClassRuleAndBudget) {
    const auto text = all_of(spark());
    EXPECT_THAT(text, HasSubstr("good cuda:0: UNIFIED by rule D3"));
    EXPECT_THAT(text, HasSubstr("102.39 GiB now (limited by MemAvailable)"));
}

TEST(MemoryAdvice, AnEmptyPoolSaysThatMovingWeightsFreesNothing) {
    auto profile = spark();
    profile.host.available = gib(5.6);
    const auto text = all_of(profile);
    EXPECT_THAT(text, HasSubstr("broken cuda:0"));
    EXPECT_THAT(text, HasSubstr("moving weights to the CPU frees nothing"));
}

TEST(MemoryAdvice, OtherProgramsAreNoticed) {
    auto profile = card();
    profile.devices[0].free = gib(12);
    EXPECT_THAT(all_of(profile), HasSubstr("other programs hold 12.00 GiB"));
}

TEST(MemoryAdvice, CarveOutsAndTheGttLimitAreExplained) {
    auto apu = radeon("Radeon 8060S", 96, true);
    apu.carveout = gib(96);
    apu.gtt = gib(15.5);
    EXPECT_THAT(all_of(machine_with(host_of(31, 28), apu)), HasSubstr("smallest carve-out"));
    apu.total = gib(62.5);
    apu.carveout = gib(0.5);
    apu.gtt = gib(62);
    EXPECT_THAT(all_of(machine_with(host_of(125, 120), apu)), HasSubstr("ttm.pages_limit"));
}

TEST(MemoryAdvice, AContainersLimitIsExplainedByClass) {
    auto on_card = card();
    on_card.host.limit = gib(8);
    EXPECT_THAT(all_of(on_card), HasSubstr("limited to 8.00 GiB of 64.00 GiB"));
    EXPECT_THAT(all_of(on_card), HasSubstr("killed by the system"));
    auto on_pool = spark();
    on_pool.host.limit = gib(8);
    EXPECT_THAT(all_of(on_pool), HasSubstr("does not protect the system"));
}

TEST(MemoryAdvice, SharedMemoryAndSwappinessCountOnOnePool) {
    const Surroundings large{.shared_memory = gib(60), .swappiness = 60};
    EXPECT_THAT(all_of(spark(), large), HasSubstr("comes from the pool"));
    EXPECT_THAT(all_of(spark(), large), HasSubstr("vm.swappiness=1"));
    EXPECT_THAT(all_of(card(), large), testing::Not(HasSubstr("vm.swappiness")));
    EXPECT_THAT(all_of(card(), {.shared_memory = gib(0.0625)}), HasSubstr("does not use it"));
}

TEST(MemoryAdvice, AMachineWithoutAcceleratorsIsTold) {
    EXPECT_THAT(all_of({.host = host_of(32, 29)}), HasSubstr("no accelerator was found"));
}

TEST(MemoryAdvice, AFullHostIsNoticed) {
    auto profile = card();
    profile.host.available = gib(4);
    EXPECT_THAT(all_of(profile), HasSubstr("hurts host memory: only 4.00 GiB of 64.00 GiB"));
}

}  // namespace
}  // namespace ballast::machine
