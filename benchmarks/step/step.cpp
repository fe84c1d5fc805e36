// One network call of Stable Diffusion 1.x, for compare.py: loads the diffusion network of a file,
// then answers each line on stdin (`step`: seconds of one call; `sum`: sum and largest magnitude
// of its output; `peak`: peak resident bytes of the process; `activations`: peak bytes of tensors;
// `layers`: seconds of every module of one more call, in the order in which they ended, in one
// line).

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/runtime/networks/sd/unet.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "benchmarks/support/timing.hpp"

namespace {

using namespace ballast;
using namespace ballast::runtime;

struct Arguments {
    std::string file;
    std::int64_t size = 512;
    int threads = 2;
    at::ScalarType compute = at::kFloat;
};

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (!option.starts_with("--")) {
            arguments.file = option;
            continue;
        }
        const std::string value = i + 1 < argc ? argv[++i] : "";
        if (option == "--size") arguments.size = std::stoll(value);
        if (option == "--threads") arguments.threads = std::stoi(value);
        if (option == "--compute" && value == "bf16") arguments.compute = at::kBFloat16;
    }
    return arguments;
}

/// f(scale * i) for i = 0, 1, ...: the same inputs as the peer's, so that outputs can be compared.
at::Tensor wave(at::IntArrayRef shape, double scale, at::Tensor (*f)(const at::Tensor&)) {
    std::int64_t count = 1;
    for (const auto size : shape) count *= size;
    return f(ops::range(count).mul(scale)).reshape(shape);
}

/// Seconds from the end of the module before to the end of each module.
class LayerTimes final : public nn::LayerListener {
public:
    void on_output(std::string_view module, const at::Tensor&) override {
        const auto now = clock_.now();
        text_ +=
            fmt::format("{}={:.6f} ", module, std::chrono::duration<double>(now - last_).count());
        last_ = now;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    RealClock clock_;
    Nanoseconds last_ = clock_.now();
    std::string text_;
};

int run(const Arguments& arguments) {
    const auto ledger = std::make_shared<device::Ledger>();
    const HostAccounting accounting(ledger);
    ops::set_threads(arguments.threads);
    const auto description = value_or_throw(
        models::sd::describe_unet(value_or_throw(formats::open_tensors(arguments.file))));
    const auto network = networks::sd::UNet::build(description.config, description.table);
    const auto store = value_or_throw(weights::WeightStore::load(
        {.reader =
             value_or_throw(formats::open_reader(arguments.file, formats::ReaderKind::positioned)),
         .table = description.table,
         .plan = plan::resident_plan(description.table, kCpu, std::nullopt),
         .ledger = ledger.get()}));
    WideningBuffer widening(*ledger);
    const WeightSource weights(store, arguments.compute, widening);
    const nn::Forward forward(weights);

    const auto side = arguments.size / 8;
    const auto x = wave({2, 4, side, side}, 0.37, ops::sin);
    const auto context = wave({2, 77, description.config.context_dim}, 0.11, ops::cos);
    const auto timesteps = ops::full({2}, 500.0, at::kFloat);

    std::cout << "ready" << std::endl;
    at::Tensor out;
    for (std::string command; std::getline(std::cin, command);) {
        if (command == "step") {
            const auto seconds =
                benchmarks::time_once([&] { out = network(forward, x, timesteps, context); });
            std::cout << fmt::format("{}", seconds) << std::endl;
        } else if (command == "sum") {
            const auto values = out.to(at::kDouble);
            std::cout << fmt::format("{:.9g} {:.9g}", values.sum().item<double>(),
                                     values.abs().max().item<double>())
                      << std::endl;
        } else if (command == "peak") {
            rusage usage{};
            ::getrusage(RUSAGE_SELF, &usage);
            std::cout << usage.ru_maxrss * 1024 << std::endl;
        } else if (command == "activations") {
            const auto use = ledger->snapshot().at(kCpu);
            std::cout << use.tag(device::Tag::activations).peak.count() << std::endl;
        } else if (command == "ledger") {
            const auto use = ledger->snapshot().at(kCpu);
            for (std::size_t i = 0; i < device::kTags; ++i)
                std::cout << fmt::format("{}={:.1f} ", to_string(static_cast<device::Tag>(i)),
                                         static_cast<double>(use.by_tag[i].peak.count()) / 1e6);
            std::cout << fmt::format("all={:.1f}", static_cast<double>(use.peak.count()) / 1e6)
                      << std::endl;
        } else if (command == "layers") {
            LayerTimes times;
            network(nn::Forward(weights, nullptr, &times), x, timesteps, context);
            std::cout << times.text() << std::endl;
        } else {
            break;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto result = guarded("run the benchmark", [&] { return run(parse(argc, argv)); });
    if (result) return *result;
    fmt::print(stderr, "error: {}\n", to_string(result.error()));
    return exit_status(result.error().code);
}
