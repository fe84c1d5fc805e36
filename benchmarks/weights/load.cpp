// Loading a checkpoint against what the machine can do: the slower of the disk's own rate (plain
// positioned reads into a small warm buffer) and the rate at which fresh memory can be touched,
// both measured in the same run, with the file's pages dropped from the cache before each reading.
//
// Usage: bench_weights_load FILE [--json]

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/io/reader.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "benchmarks/support/report.hpp"

namespace {

using namespace ballast;

constexpr std::size_t kChunk = std::size_t{4} << 20U;
constexpr unsigned kThreads = 2;

double seconds(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void drop_from_cache(const formats::File& file) {
    ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

/// The same number of threads as the store uses, each with one buffer that stays warm.
double plain_read(const formats::File& file) {
    drop_from_cache(file);
    std::atomic<std::uint64_t> next{0};
    const auto size = file.size().count();
    return seconds([&] {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < kThreads; ++t)
            threads.emplace_back([&] {
                std::vector<std::byte> buffer(kChunk);
                for (auto at = next.fetch_add(kChunk); at < size; at = next.fetch_add(kChunk))
                    if (!file.read_at(at, std::span(buffer).first(
                                              std::min<std::uint64_t>(kChunk, size - at))))
                        std::fputs("read failed\n", stderr);
            });
    });
}

double touch(std::uint64_t size) {
    auto* memory = static_cast<std::byte*>(
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) return 0;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto half = size / kThreads;
    const double time = seconds([&] {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < kThreads; ++t)
            threads.emplace_back([memory, page, from = t * half, to = (t + 1) * half] {
                for (auto at = from; at < to; at += page) memory[at] = std::byte{1};
            });
    });
    ::munmap(memory, size);
    return time;
}

plan::BlockTable table_of(const formats::TensorDirectory& directory) {
    std::vector<plan::BlockTensor> tensors;
    for (const auto& entry : directory.entries())
        tensors.push_back({.name = entry.name,
                           .type = entry.type,
                           .shape = entry.shape,
                           .offset = entry.offset,
                           .bytes = entry.bytes});
    return plan::group_into_blocks(tensors);
}

std::uint64_t peak_rss() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

int complain(const Error& error) {
    std::fprintf(stderr, "error: %s\n", to_string(error).c_str());
    return exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: bench_weights_load FILE [--json]\n", stderr);
        return 2;
    }
    const std::string path = argv[1];
    const auto file = formats::File::open(path);
    if (!file) return complain(file.error());
    const auto directory = formats::open_tensors(path);
    if (!directory) return complain(directory.error());
    const auto table = table_of(*directory);
    const auto reader = formats::open_reader(path, formats::ReaderKind::positioned);
    if (!reader) return complain(reader.error());

    // the load comes first, so that its peak is the process's own
    const auto before = peak_rss();
    device::Ledger ledger;
    std::vector<double> loads;
    std::vector<double> reads;
    std::vector<double> touches;
    std::uint64_t peak = 0;
    for (int round = 0; round < 3; ++round) {
        drop_from_cache(*file);
        std::optional<Error> failure;
        loads.push_back(seconds([&] {
            const auto store =
                weights::WeightStore::load({.reader = *reader,
                                            .table = table,
                                            .plan = plan::resident_plan(table, kCpu, std::nullopt),
                                            .ledger = &ledger,
                                            .reading_threads = kThreads});
            if (!store) failure = store.error();
        }));
        if (failure) return complain(*failure);
        if (round == 0) peak = peak_rss() - before;
        reads.push_back(plain_read(*file));
        touches.push_back(touch(table.bytes().count()));
    }
    const auto middle = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    };
    const auto gigabytes = static_cast<double>(table.bytes().count()) / 1e9;
    const double disk = gigabytes / middle(reads);
    const double memory = gigabytes / middle(touches);
    using benchmarks::Row;
    benchmarks::print_report(
        {Row{.name = "weights.load_seconds",
             .figure = middle(loads),
             .unit = "s",
             .bound = std::max(middle(reads), middle(touches)),
             .meaning = disk < memory ? "plain reads of the same bytes" : "touching fresh memory"},
         Row{.name = "weights.load_rate",
             .figure = gigabytes / middle(loads),
             .unit = "GB/s",
             .bound = std::min(disk, memory),
             .meaning = disk < memory ? "plain reads of the same bytes" : "touching fresh memory"},
         Row{.name = "weights.load_peak_memory",
             .figure = static_cast<double>(peak) / 1e6,
             .unit = "MB",
             .bound = static_cast<double>(file->size().count() + (std::uint64_t{300} << 20U)) / 1e6,
             .meaning = "file size + 300 MiB"}},
        benchmarks::output_asked_for(argc, argv));
    return 0;
}
