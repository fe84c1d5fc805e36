// How long Ctrl-C may take: the longest time between two layer boundaries of Stable Diffusion 1.5
// at 512 x 512, sampling (both halves of guidance in one call) and decoding. A run stops at the
// next boundary, so the longest layer is the bound of the wait; beside it stands the whole pass,
// which is what waiting for the end of the step would cost.
//
// Usage: bench_longest_layer CHECKPOINT [--json]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ballast/engine/formats/io/reader.hpp"
#include "ballast/runtime/networks/sd/unet.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "ballast/runtime/vae/vae.hpp"
#include "benchmarks/support/report.hpp"

namespace {

using namespace ballast;
using namespace ballast::runtime;

/// Is asked at every boundary; remembers the longest time between two questions.
class Boundaries final : public nn::StopCheck {
public:
    [[nodiscard]] bool stop_requested() const override {
        mark();
        return false;
    }
    void start() {
        longest_ = 0;
        last_ = Clock::now();
        begin_ = last_;
    }
    /// The last layer ends with the pass.
    void end() {
        mark();
        total_ = std::chrono::duration<double>(last_ - begin_).count();
    }
    [[nodiscard]] double longest() const { return longest_; }
    [[nodiscard]] double total() const { return total_; }

private:
    using Clock = std::chrono::steady_clock;
    void mark() const {
        const auto now = Clock::now();
        longest_ = std::max(longest_, std::chrono::duration<double>(now - last_).count());
        last_ = now;
    }
    mutable double longest_ = 0;
    mutable Clock::time_point last_{};
    Clock::time_point begin_{};
    double total_ = 0;
};

std::shared_ptr<const weights::WeightStore> load(const std::string& file,
                                                 const plan::BlockTable& table,
                                                 device::Ledger& ledger) {
    return value_or_throw(weights::WeightStore::load(
        {.reader = value_or_throw(formats::open_reader(file, formats::ReaderKind::positioned)),
         .table = table,
         .plan = plan::resident_plan(table, kCpu, std::nullopt),
         .ledger = &ledger}));
}

benchmarks::Row measured(const std::string& name, Boundaries& boundaries, const auto& pass) {
    pass();  // memory is warm from here on
    boundaries.start();
    pass();
    boundaries.end();
    return {.name = "step.longest_layer_" + name,
            .figure = boundaries.longest(),
            .unit = "s",
            .bound = boundaries.total(),
            .meaning = "the whole pass"};
}

int run(const std::string& file, benchmarks::Output output) {
    const auto ledger = std::make_shared<device::Ledger>();
    const HostAccounting accounting(ledger);
    const auto directory = value_or_throw(formats::open_tensors(file));
    WideningBuffer widening(*ledger);
    Boundaries boundaries;
    std::vector<benchmarks::Row> rows;
    {
        const auto description = value_or_throw(models::sd::describe_unet(directory));
        const auto network = networks::sd::UNet::build(description.config, description.table);
        const WeightSource weights(load(file, description.table, *ledger), at::kFloat, widening);
        const nn::Forward forward(weights, &boundaries);
        const auto x = ops::full({2, 4, 64, 64}, 0.5, at::kFloat);
        const auto context = ops::full({2, 77, description.config.context_dim}, 0.1, at::kFloat);
        rows.push_back(measured("sampling", boundaries, [&] {
            network(forward, x, ops::full({2}, 500.0, at::kFloat), context);
        }));
    }
    {
        const auto description = value_or_throw(models::sd::describe_vae(directory));
        const auto network = vae::Vae::build(description.config, description.table);
        const WeightSource weights(load(file, description.table, *ledger), at::kFloat, widening);
        const nn::Forward forward(weights, &boundaries);
        const auto latent = ops::full({1, 4, 64, 64}, 0.5, at::kFloat);
        rows.push_back(measured("decoding", boundaries, [&] { network.decode(forward, latent); }));
    }
    benchmarks::print_report(rows, output);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: bench_longest_layer CHECKPOINT [--json]\n");
        return 2;
    }
    const auto result = guarded("run the benchmark", [&] {
        return run(argv[1], benchmarks::output_asked_for(argc, argv));
    });
    if (result) return *result;
    fmt::print(stderr, "error: {}\n", to_string(result.error()));
    return exit_status(result.error().code);
}
