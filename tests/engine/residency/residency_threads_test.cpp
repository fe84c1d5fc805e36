// Requests, flags and looks from several threads while one loads, uses and frees. Nothing is timed:
// the others do so many things for each step of the one that loads, in whatever order they meet.
// Most telling under a sanitizer.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/engine/residency/property_scene.hpp"
#include "tests/support/random.hpp"

namespace ballast::residency::property {
namespace {

using ballast::testing::Random;

constexpr int kSteps = 150;
constexpr int kPerStep = 40;

/// Every block of a loaded model, against its file.
bool has_bytes_of_file(const weights::WeightStore& store, std::size_t model) {
    for (std::uint32_t b = 0; b < store.table().blocks().size(); ++b) {
        const auto pin = store.pin({b});
        if (!pin) return false;
        const auto& tensors = pin->block().tensors;
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            const auto bytes = pin->bytes(t);
            for (std::size_t i = 0; i < bytes.size(); ++i)
                if (bytes[i] != content(file_of(model), 0, tensors[t].offset + i)) return false;
        }
    }
    return true;
}

class ResidencyThreads : public ::testing::Test {
protected:
    Result<Loading> load(std::size_t model, std::uint32_t plan, RetentionFlag flag) {
        const auto source = scene.files.source(model);
        const auto plans = plan_makers(scene.files.table(model), plan, Bytes{});
        return scene.registry.load({.source = &source, .retention = flag, .plans = plans});
    }

    /// What the thread that runs prompts does. Returns how often a model was computed with.
    int work(std::uint64_t seed) {
        Random random(seed);
        int runs = 0;
        for (int i = 0; i < kSteps; ++i) {
            ++step_;
            step_.notify_all();
            if (random.once_in(2)) scene.flow.begin_prompt();
            const auto model = random.below(kModels);
            const RetentionFlag flag{.value =
                                         random.once_in(2) ? Retention::keep : Retention::release};
            // refused, or in use by the other thread: then the next one
            if (const auto loading =
                    load(model, static_cast<std::uint32_t>(random.below(kPlanKinds)), flag)) {
                const auto use = scene.registry.use(loading->handle);
                EXPECT_TRUE(use && has_bytes_of_file(*use->weights(), model));
                ++runs;
            }
            if (random.once_in(2)) scene.flow.request({.unload_models = true});
            static_cast<void>(scene.flow.end_prompt([] {}));
            static_cast<void>(scene.flow.settle([] {}));
            scene.flow.soft_empty_cache(false);
            scene.clock.advance(std::chrono::seconds{1});
        }
        return runs;
    }

    /// Does something beside each step of the thread that loads.
    template <typename Something>
    void beside_each_step(const Something& something) {
        for (int seen = 0; seen < kSteps; ++seen) {
            step_.wait(seen);
            for (int i = 0; i < kPerStep; ++i) something();
        }
    }

    /// What comes from a server's threads.
    void ask(std::uint64_t seed) {
        Random random(seed);
        beside_each_step([&] {
            const auto name = Files::name(random.below(kModels));
            // mostly flags, since a step in which everything goes tests nothing else
            switch (random.below(400)) {
                case 0: scene.flow.request({.unload_models = random.once_in(2)}); break;
                case 1: scene.flow.request({.free_memory = true}); break;
                case 2: static_cast<void>(scene.flow.request_eject(name)); break;
                case 3: scene.flow.request_unload_all(); break;
                case 4: scene.flow.reset_executor("test", random.once_in(2)); break;
                case 5: scene.flow.force_full_system_cleanup("test"); break;
                default:
                    static_cast<void>(scene.registry.set_retention(
                        name, random.once_in(2) ? Retention::keep : Retention::release));
            }
        });
    }

    void look() {
        beside_each_step([this] {
            const auto status = scene.flow.status();
            for (const auto& [device, use] : status.ledger)
                EXPECT_LE(use.now, use.limit.value_or(use.now)) << to_string(device);
            for (const auto& model : status.models)
                static_cast<void>(scene.registry.is_loaded(model.handle));
        });
    }

    /// Computes beside the thread that loads, with what is there.
    void use() {
        beside_each_step([this] {
            for (const auto& model : scene.registry.models()) {
                const auto use = scene.registry.use(model.handle);
                if (!use) continue;  // it went since
                const auto resident =
                    use->weights()->plan().homes.front() == use->weights()->plan().compute;
                if (!resident || !scene.registry.is_loaded(model.handle)) continue;
                const auto number =
                    static_cast<std::size_t>(model.name[model.name.size() - 2] - '0');
                const auto pin = use->weights()->pin({0});
                ASSERT_TRUE(pin);
                EXPECT_EQ(pin->bytes(0).front(),
                          content(file_of(number), 0, pin->block().tensors.front().offset));
            }
        });
    }

    Scene scene{Variant{.keeps_caches = true}};

private:
    std::atomic<int> step_{0};  ///< of the thread that loads
};

TEST_F(ResidencyThreads, AskAndLookWhileOneLoadsUsesAndFrees) {
    {
        std::array<std::jthread, 3> others{std::jthread([this] { ask(1); }),
                                           std::jthread([this] { ask(2); }),
                                           std::jthread([this] { look(); })};
        EXPECT_GT(work(3), 0);
    }
    scene.flow.request_unload_all();
    static_cast<void>(scene.flow.settle([] {}));
    EXPECT_TRUE(scene.registry.models().empty());
    EXPECT_TRUE(scene.registry.held().empty());
}

TEST_F(ResidencyThreads, NoModelGoesWhileAnotherThreadComputesWithIt) {
    {
        std::array<std::jthread, 2> others{std::jthread([this] { use(); }),
                                           std::jthread([this] { ask(4); })};
        work(5);
    }
    scene.flow.request_unload_all();
    static_cast<void>(scene.flow.settle([] {}));
    EXPECT_TRUE(scene.registry.models().empty());
    for (const auto id : kDevices)
        EXPECT_TRUE(scene.held(id, device::Tag::weights).is_zero()) << to_string(id);
}

}  // namespace
}  // namespace ballast::residency::property
