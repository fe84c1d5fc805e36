// Promise: the header of a file with 100,000 tensors is open in under 100 ms, first use included.
// The second bound is physical: the rate at which the same bytes can be read at all.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "benchmarks/support/report.hpp"
#include "benchmarks/support/timing.hpp"
#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace ballast;

constexpr std::uint64_t kTensors = 100'000;
constexpr double kPromisedMs = 100;

/// Names as long as those of real models; one byte per tensor, so that the file is all header.
std::string file_of_many_tensors() {
    std::string header;
    for (std::uint64_t i = 0; i < kTensors; ++i) {
        header += i == 0 ? '{' : ',';
        header += testing::header_member(
            fmt::format("model.diffusion_model.input_blocks.{}.1.transformer_blocks.{}.attn2.to_k."
                        "weight",
                        i / 100, i % 100),
            "U8", {1, 1}, i, i + 1);
    }
    header += '}';
    return testing::safetensors_with_header(header, std::string(kTensors, '\0'));
}

void open_or_die(const std::filesystem::path& path) {
    const auto directory = formats::open_tensors(path);
    if (directory && directory->entries().size() == kTensors) return;
    fmt::print(stderr, "{}\n", directory ? "tensors are missing" : to_string(directory.error()));
    std::exit(1);
}

void read_or_die(const std::filesystem::path& path) {
    const auto file = formats::File::open(path);
    std::vector<std::byte> bytes(file ? file->size().count() : 0);
    if (!file || !file->read_at(0, bytes)) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    const testing::TemporaryFolder folder;
    const auto content = file_of_many_tensors();
    const auto path = folder.write("many.safetensors", content);
    const auto gigabytes = static_cast<double>(content.size()) / 1e9;

    // before anything has warmed the allocator, as in a program that has just started
    const auto first = benchmarks::time_once([&] { open_or_die(path); });
    const auto [open, read] =
        benchmarks::time_pairs(11, [&] { open_or_die(path); }, [&] { read_or_die(path); });
    benchmarks::print_report(
        {{"formats.header_100k_first", first * 1e3, "ms", kPromisedMs, "promised"},
         {"formats.header_100k", open.median() * 1e3, "ms", kPromisedMs, "promised"},
         {"formats.header_rate", gigabytes / open.median(), "GB/s", gigabytes / read.median(),
          "reading the same bytes"}},
        benchmarks::output_asked_for(argc, argv));
}
