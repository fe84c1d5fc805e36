// Whether freed memory really comes back: a model on the processor is loaded and freed fifty times.
// How long after a free the bytes have left the process as the system counts it, how much the
// process takes while it frees, and how much it has grown at the end. With a program, also the
// growth over fifty runs of the demo with libtorch in the process.
//
// Usage: bench_residency_free [--json]

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "ballast/engine/residency/registry.hpp"
#include "benchmarks/support/report.hpp"

namespace {

using namespace ballast;
using benchmarks::Row;
using std::chrono::steady_clock;

constexpr int kCycles = 50;
constexpr std::uint64_t kModel = std::uint64_t{512} << 20U;
constexpr std::uint64_t kBlock = std::uint64_t{8} << 20U;
constexpr double kMega = 1e6;

std::uint64_t resident() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t pages = 0;
    file >> size >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// All the memory that there is.
class Plenty final : public residency::Surroundings {
public:
    [[nodiscard]] plan::PlanMachine room(const std::map<DeviceId, Bytes>&) const override {
        return {.devices = {{.id = kCpu, .capacity = Bytes{kModel * 4}}}};
    }
    Bytes release_kept() override { return {}; }
};

plan::BlockTable table() {
    std::vector<plan::BlockTensor> tensors;
    for (std::uint64_t at = 0; at < kModel; at += kBlock)
        tensors.push_back({.name = "block" + std::to_string(at / kBlock) + ".weight",
                           .type = ElementType::u8,
                           .shape = {static_cast<std::int64_t>(kBlock)},
                           .offset = at,
                           .bytes = Bytes{kBlock}});
    return plan::group_into_blocks(tensors);
}

struct Figures {
    double slowest_ms = 0;  ///< from the call to the moment when the bytes have left
    double grown_mb = 0;    ///< after all cycles, against the first one
    double taken_mb = 0;    ///< most that the process had more while it freed
    bool has_failed = false;
};

/// Waits until the process has less than `most`, at most a second.
double ms_until_below(std::uint64_t most, steady_clock::time_point start) {
    for (;;) {
        const double ms =
            std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
        if (resident() <= most || ms > 1000) return ms;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

Figures engine_cycles(const std::filesystem::path& file) {
    device::Ledger ledger;
    const device::DeviceSet devices({device::make_host_device()});
    device::Transfers transfers(devices, ledger);
    Plenty plenty;
    residency::Registry registry(ledger, transfers, plenty, Log(), {});
    const auto key = residency::model_key(file, "all");
    residency::ModelSource source{.key = *key, .name = "model", .table = table(), .open = [&file] {
                                      return formats::open_reader(file,
                                                                  formats::ReaderKind::positioned);
                                  }};
    const residency::PlanMaker make = [&](const plan::PlanMachine& left) {
        return plan::resident_plan(source.table, kCpu, left.devices.front().capacity);
    };
    Figures figures;
    std::uint64_t first = 0;
    for (int cycle = 0; cycle <= kCycles; ++cycle) {
        const auto loaded = registry.load({.source = &source, .plans = {make}});
        if (!loaded) {
            std::fprintf(stderr, "error: %s\n", to_string(loaded.error()).c_str());
            figures.has_failed = true;
            return figures;
        }
        const auto before = resident();
        const auto start = steady_clock::now();
        const auto report = registry.release_flagged();
        const auto released = report.released().at(kCpu).count();
        figures.taken_mb =
            std::max(figures.taken_mb,
                     (static_cast<double>(resident()) - static_cast<double>(before)) / kMega);
        // a page or two of bookkeeping is not the model's
        const auto gone = ms_until_below(before - released + (std::uint64_t{1} << 20U), start);
        figures.slowest_ms = std::max(figures.slowest_ms, gone);
        if (cycle == 0) first = resident();
    }
    figures.grown_mb = (static_cast<double>(resident()) - static_cast<double>(first)) / kMega;
    return figures;
}

#ifdef BALLAST_PROGRAM
/// MB that the whole program has grown from the first run's free to the last one's.
double program_growth(const std::filesystem::path& folder) {
    const std::string data = BALLAST_SOURCE_DIR "/data/demo/";
    const auto report = folder / "report.json";
    const std::string command = std::string(BALLAST_PROGRAM) + " run " + data +
                                "workflow.json --models " + data + "models --output " +
                                (folder / "out").string() + " --quiet --free-between both" +
                                " --repeat " + std::to_string(kCycles + 2) + " --report " +
                                report.string() + " > /dev/null";
    if (std::system(command.c_str()) != 0) return -1;
    std::ifstream file(report);
    const auto document = nlohmann::json::parse(file);
    std::vector<double> after;
    for (const auto& run : document.at("runs"))
        if (run.contains("freed")) after.push_back(run["freed"].at("resident_after"));
    return (after.back() - after.front()) / kMega;
}
#endif

}  // namespace

int main(int argc, char** argv) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("ballast-bench-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const auto file = folder / "model";
    std::ofstream(file).close();
    std::filesystem::resize_file(file, kModel);
    const auto figures = engine_cycles(file);
    std::vector<Row> rows{{.name = "residency.free_leaves_process",
                           .figure = figures.slowest_ms,
                           .unit = "ms",
                           .bound = 100,
                           .meaning = "promised, slowest of 50 frees of 512 MiB"},
                          {.name = "residency.taken_while_freeing",
                           .figure = figures.taken_mb,
                           .unit = "MB",
                           .bound = 67.1,
                           .meaning = "64 MiB: freeing never copies down"},
                          {.name = "residency.growth_of_engine",
                           .figure = figures.grown_mb,
                           .unit = "MB",
                           .bound = 1,
                           .meaning = "promised, over 50 cycles"}};
#ifdef BALLAST_PROGRAM
    rows.push_back({.name = "residency.growth_of_program",
                    .figure = program_growth(folder),
                    .unit = "MB",
                    .bound = 1,
                    .meaning = "promised, over 50 runs of the demo, everything freed between"});
#endif
    std::filesystem::remove_all(folder);
    if (figures.has_failed) return 1;
    print_report(rows, benchmarks::output_asked_for(argc, argv));
    return 0;
}
