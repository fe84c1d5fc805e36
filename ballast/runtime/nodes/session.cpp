#include "ballast/runtime/nodes/session.hpp"

#include <fmt/format.h>

#include <random>

#include "ballast/engine/core/threads.hpp"
#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nodes {
namespace {

/// Not a measure against anybody, only against two sessions overwriting each other's previews.
std::string random_letters(std::size_t count) {
    std::random_device device;
    std::uniform_int_distribution<int> letter('a', 'z');
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(letter(device));
    return text;
}

}  // namespace

Session::Session(graph::RuntimeOptions options)
    : options_(std::move(options)),
      folders_({.model_roots = options_.model_roots,
                .input = options_.input_folder,
                .output = options_.output_folder,
                .temp = options_.temp_folder}),
      bench_(std::make_shared<Workbench>(options_)),
      accounting_(bench_->ledger()),
      preview_suffix_(random_letters(5)) {
    const auto threads = static_cast<int>(graph::arithmetic_threads(options_));
    value_or_throw(require_threads(threads));  // OpenMP would end the process
    ops::set_threads(threads);
}

Result<graph::NodeResult> Session::run(const graph::NodeCall& call, graph::NodeObserver& observer) {
    const auto implementation = find_implementation(call.class_type);
    if (implementation == nullptr) {
        return fail(Error{.code = Code::not_available,
                          .what = "cannot run " + call.class_type,
                          .why = "this node has no implementation yet",
                          .place = {.node = call.node_id}});
    }
    const auto start = bench_->clock.now();
    auto result = guarded("cannot run " + call.class_type,
                          [&] { return implementation({*this, observer}, call); });
    log().debug(fmt::format("node {} ({}) {} {:.3f} s", call.node_id, call.class_type,
                            result ? "ran for" : "failed after",
                            bench_->clock.seconds_since(start)));
    // different shapes follow in the next node: what is kept for reuse would only be in the way
    if (const auto released = accounting_.trim(); !released.is_zero())
        log().debug(fmt::format("gave back {} kept for reuse", to_string(released)));
    if (!result) return fail(at_node(std::move(result).error(), call.node_id));
    return result;
}

graph::RuntimeReport Session::report() const {
    graph::RuntimeReport report;
    report.devices = bench_->ledger()->snapshot();
    report.streaming = bench_->traffic().report();
    bench_->record.write(report);
    return report;
}

void Session::reset_report() {
    bench_->ledger()->reset_peaks();
    bench_->traffic().reset();
    bench_->record.reset();
}

void Session::log_opened(const std::filesystem::path& file) const {
    std::error_code ignored;
    log().info(fmt::format("opened {}: {}", file.string(),
                           to_string(Bytes{std::filesystem::file_size(file, ignored)})));
}

std::vector<DeviceId> Session::devices() const {
    std::vector<DeviceId> ids;
    for (const auto& device : bench_->devices().all()) ids.push_back(device->id());
    return ids;
}

std::string Session::version() const { return ops::torch_version(); }

const text::ClipTokenizer& Session::tokenizer(std::size_t width) {
    return tokenizers_.try_emplace(width, text::TokenizerOptions{.width = width}).first->second;
}

}  // namespace ballast::runtime::nodes
