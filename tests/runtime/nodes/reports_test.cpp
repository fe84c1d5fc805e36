// What the runtime tells of itself: the log, and the report, from whichever thread asks for it.

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <thread>

#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::golden_network;
using ballast::testing::NodeNotes;
using ballast::testing::TemporaryFolder;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using graph::Json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(RuntimeLog, TellsOfFilesModelsAndNodes) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "models/checkpoints");
    std::filesystem::create_symlink(golden_network("sd15-tiny.safetensors"),
                                    folder / "models/checkpoints/tiny.safetensors");
    const auto lines = std::make_shared<CollectingSink>();
    graph::RuntimeOptions options;
    options.model_roots = {folder / "models"};
    options.log = Log({lines});
    Session session(std::move(options));
    NodeNotes notes;
    graph::NodeCall call;
    call.node_id = "4";
    call.class_type = "CheckpointLoaderSimple";
    call.inputs = {{"ckpt_name", Json("tiny.safetensors")}};
    call.output_is_used = {true, false, true};
    const auto loaded = session.run(call, notes);
    ASSERT_TRUE(loaded);
    graph::NodeCall decode;
    decode.node_id = "5";
    decode.class_type = "VAEDecode";
    decode.inputs = {
        {"vae", loaded->outputs[2]},
        {"samples", ballast::testing::latent_of(ops::zeros({1, 4, 8, 8}, at::kFloat))}};
    decode.output_is_used = {true};
    ASSERT_TRUE(session.run(decode, notes));
    EXPECT_THAT(
        lines->lines(LogLevel::info),
        ElementsAre(AllOf(StartsWith("opened "), HasSubstr("tiny.safetensors: "), HasSubstr("MiB")),
                    StartsWith("automatic: "), StartsWith("cpu: "),
                    AllOf(StartsWith("loaded tiny.safetensors (vae): "), HasSubstr("MiB in "),
                          HasSubstr(" s, computes on cpu")),
                    StartsWith("tag=after_vae|cpu=")));
    EXPECT_THAT(lines->lines(LogLevel::debug),
                Contains(StartsWith("node 4 (CheckpointLoaderSimple) ran for ")));
    call.inputs = {{"ckpt_name", Json("absent.safetensors")}};
    ASSERT_FALSE(session.run(call, notes));
    EXPECT_THAT(lines->lines(LogLevel::debug),
                Contains(StartsWith("node 4 (CheckpointLoaderSimple) failed after ")));
}

TEST(RuntimeReport, RemembersModelsThatWereLetGoUntilItIsReset) {
    TinyHost host;
    std::optional<TinyScene> scene(host);
    (void)scene->decode(scene->sample());
    const auto loaded = host.session().report();
    ASSERT_THAT(loaded.models, SizeIs(3U));
    EXPECT_EQ(loaded.planned, loaded.realised);
    host.registry().release_all();
    const auto after = host.session().report();
    EXPECT_THAT(after.models, SizeIs(3U));
    EXPECT_EQ(after.realised, loaded.realised);

    scene.emplace(host);
    (void)scene->decode(scene->sample());
    EXPECT_THAT(host.session().report().models, SizeIs(3U)) << "read anew, not twice";
    EXPECT_EQ(host.session().report().realised, loaded.realised);
    host.session().reset_report();
    EXPECT_THAT(host.session().report().models, SizeIs(3U)) << "they are loaded";
    host.registry().release_all();
    host.session().reset_report();
    EXPECT_THAT(host.session().report().models, IsEmpty());
    EXPECT_THAT(host.session().report().realised, IsEmpty());
}

TEST(RuntimeReport, MayBeAskedForByAnyThreadWhileNodesRun) {
    TinyHost host;
    std::atomic<bool> is_done{false};
    std::thread watcher([&] {
        for (int i = 0; !is_done; ++i) {
            const auto report = host.session().report();
            EXPECT_EQ(report.planned, report.realised);
            for (const auto& model : report.models) EXPECT_FALSE(model.plan_digest.empty());
            if (i % 8 == 0) host.session().reset_report();
        }
    });
    for (int i = 0; i < 5; ++i) {
        const TinyScene scene(host);
        (void)scene.decode(scene.sample());
    }
    is_done = true;
    watcher.join();
}

}  // namespace
}  // namespace ballast::runtime::nodes
