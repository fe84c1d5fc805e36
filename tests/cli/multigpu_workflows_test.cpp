// Workflows as users of ComfyUI-MultiGPU have them, run unchanged on a machine with two cards.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/demo_run.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

/// Two cards of unequal size.
std::vector<std::string> on_two_cards() {
    return {"--simulate", machine_profile("rtx-3090-24gb-rtx-3060-12gb")};
}

class MultiGpuWorkflow : public ::testing::Test {
protected:
    MultiGpuWorkflow() {
        const auto demo = in_repository("data/demo/models/checkpoints/ballast-demo.safetensors");
        for (const auto* name :
             {"models/checkpoints/ballast-demo.safetensors",
              "models/diffusion_models/network.safetensors",
              "models/text_encoders/texts.safetensors", "models/vae/pictures.safetensors"}) {
            std::filesystem::create_directories((folder_ / name).parent_path());
            std::filesystem::create_symlink(demo, folder_ / name);
        }
    }

    [[nodiscard]] std::filesystem::path models() const { return folder_ / "models"; }
    [[nodiscard]] static std::filesystem::path workflow(const std::string& name) {
        return in_repository("tests/cli/workflows/" + name + ".json");
    }
    [[nodiscard]] json planned(const std::string& name) const {
        std::vector<std::string> words{"plan", workflow(name).string(), "--models",
                                       models().string(), "--json"};
        std::ranges::copy(on_two_cards(), std::back_inserter(words));
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return json::parse(outcome.out).at("models");
    }

    /// Runs it to the demo's picture, every model where `ballast plan` says. Returns the models of
    /// the report by their parts.
    std::map<std::string, json> expect_run_as_planned(const std::string& name) {
        const auto run = run_demo(workflow(name), models(), on_two_cards());
        EXPECT_EQ(run.outcome.status, 0) << run.outcome.out << run.outcome.err;
        EXPECT_TRUE(run.picture == run_demo().picture) << "the picture differs";
        std::map<std::string, json> by_part;
        if (run.outcome.status != 0) return by_part;
        const auto& models = run.report.at("models");
        const auto plan = planned(name);
        EXPECT_EQ(models.size(), plan.size());
        for (std::size_t i = 0; i < std::min(models.size(), plan.size()); ++i) {
            SCOPED_TRACE(plan[i].at("name"));
            for (const auto* key : {"name", "compute", "homes", "plan"})
                EXPECT_EQ(models[i].at(key), plan[i].at(key)) << key;
            auto part = models[i].at("name").get<std::string>();
            part = part.substr(part.find('(') + 1);
            by_part[part.substr(0, part.size() - 1)] = models[i];
        }
        for (const auto& [id, device] : run.report.at("devices").items())
            EXPECT_EQ(device.at("planned"), device.at("realised")) << id;
        return by_part;
    }

    TemporaryFolder folder_;
};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

TEST_F(MultiGpuWorkflow, WithADistributedCheckpointRunsUnchanged) {
    auto models = expect_run_as_planned("distorch2");
    ASSERT_EQ(models.size(), 3U);
    const auto& network = models["unet"];
    EXPECT_EQ(network.at("compute"), "cuda:0");
    ASSERT_EQ(network.at("homes").size(), 3U) << network;
    EXPECT_LE(network.at("homes").at("cuda:0").get<std::uint64_t>(), 2 * kMiB);
    EXPECT_LE(network.at("homes").at("cuda:1").get<std::uint64_t>(), kMiB);
    EXPECT_EQ(network.at("allocation"), "cuda:0,2mb;cuda:1,1mb;cpu,*#cuda:0");
    EXPECT_EQ(models["text"].at("compute"), "cpu");
    EXPECT_EQ(models["vae"].at("compute"), "cuda:0");
}

TEST_F(MultiGpuWorkflow, WithALoaderForEachModelRunsUnchanged) {
    auto models = expect_run_as_planned("separate_loaders");
    ASSERT_EQ(models.size(), 3U);
    const auto& network = models["unet"];
    EXPECT_EQ(network.at("compute"), "cuda:0");
    // a donor takes the 0.002 GiB that the compute device shall be free of
    EXPECT_GE(network.at("homes").at("cuda:1").get<std::uint64_t>(), 2 * kMiB);
    EXPECT_EQ(models["text"].at("homes").begin().key(), "cuda:1");
    EXPECT_EQ(models["vae"].at("homes").begin().key(), "cpu");
}

TEST_F(MultiGpuWorkflow, ThatNamesACardWhichIsGoneIsRefusedAtItsLoader) {
    auto changed = json::parse(content_of(workflow("distorch2")));
    changed["1"]["inputs"]["unet_expert_mode_allocations"] = "cuda:0,2mb;cuda:3,1mb;cpu,*";
    const auto file = folder_.write("w.json", changed.dump()).string();
    for (const std::string command : {"plan", "run"}) {
        std::vector<std::string> words{command, file, "--models", models().string()};
        std::ranges::copy(on_two_cards(), std::back_inserter(words));
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.status, 2) << outcome.err;
        for (const auto* part : {"cuda:3", "node 1", "hint: "})
            EXPECT_NE(outcome.err.find(part), std::string::npos) << part << '\n' << outcome.err;
    }
    changed["1"]["inputs"]["vae_device"] = "cuda:3";
    changed["1"]["inputs"]["unet_expert_mode_allocations"] = "";
    folder_.write("w.json", changed.dump());
    const auto outcome = run_program({"run", file, "--models", models().string(), "--output",
                                      (folder_ / "out").string(), "--simulate",
                                      machine_profile("rtx-3090-24gb-rtx-3060-12gb")});
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("cuda:3"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace ballast::testing
