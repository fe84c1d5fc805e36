#include "ballast/engine/machine/discovery/probe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/core/system_error.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopied = std::size_t{256} << 20U;
constexpr std::size_t kRead = std::size_t{4} << 20U;
constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kMostRead = std::uint64_t{512} << 20U;
constexpr std::uint64_t kLeastFile = std::uint64_t{1} << 20U;
constexpr int kRounds = 3;

/// The largest regular file below the folders; folders that cannot be read are passed over.
std::pair<fs::path, std::uint64_t> largest_file(const std::vector<fs::path>& folders) {
    std::pair<fs::path, std::uint64_t> largest{};
    for (const auto& folder : folders) {
        std::error_code fault;
        fs::recursive_directory_iterator entry(
            folder, fs::directory_options::skip_permission_denied, fault);
        for (const fs::recursive_directory_iterator end; !fault && entry != end;
             entry.increment(fault)) {
            std::error_code unreadable;
            if (!entry->is_regular_file(unreadable)) continue;
            const auto size = entry->file_size(unreadable);
            if (!unreadable && size > largest.second) largest = {entry->path(), size};
        }
    }
    return largest;
}

class Descriptor {
public:
    explicit Descriptor(const fs::path& path)
        : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

Error unreadable(const fs::path& path) {
    return system_error(path, "cannot measure the disk", errno);
}

/// Bytes read from `offset` on; fewer at the end of the file, or when the system refuses.
std::size_t read_some(int file, std::span<std::byte> buffer, std::uint64_t offset) {
    const auto count = ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

Result<double> probe_memory_copy(const Clock& clock) {
    // plain new would touch nothing; the values make the pages real before the clock starts
    const auto buffer = [] { return std::unique_ptr<char[]>(new (std::nothrow) char[kCopied]); };
    const auto from = buffer();
    const auto to = buffer();
    if (!from || !to)
        return fail(Error{.code = Code::out_of_memory,
                          .what = "cannot measure memory copies",
                          .why = "the system refused 512 MiB",
                          .hint = "close other programs"});
    std::memset(from.get(), 1, kCopied);
    std::memset(to.get(), 2, kCopied);
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = clock.now();
        std::memcpy(to.get(), from.get(), kCopied);
        // a copy that nobody reads could be left out
        asm volatile("" : : "r"(to.get()) : "memory");
        const auto taken = clock.seconds_since(start);
        if (taken > 0) best = std::max(best, static_cast<double>(kCopied) / taken / 1e9);
    }
    return best;
}

Result<std::optional<DiskRate>> probe_disk(const std::vector<fs::path>& folders,
                                           const Clock& clock) {
    const auto [path, size] = largest_file(folders);
    if (size < kLeastFile) return std::nullopt;
    const Descriptor file(path);
    if (file.number() < 0) return fail(unreadable(path));
    DiskRate rate{.file = path};
    rate.is_cold = ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED) == 0;

    std::vector<std::byte> buffer(kRead);
    // single pages first, spread over the file, so that no reading ahead has fetched them
    constexpr std::uint64_t kPages = 16;
    auto start = clock.now();
    for (std::uint64_t i = 0; i < kPages; ++i)
        if (read_some(file.number(), std::span(buffer).first(kPage),
                      size / kPages * i / kPage * kPage) == 0)
            return fail(unreadable(path));
    rate.latency_us = clock.seconds_since(start) / kPages * 1e6;

    ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
    std::uint64_t done = 0;
    start = clock.now();
    while (done < std::min(size, kMostRead)) {
        const auto count = read_some(file.number(), buffer, done);
        if (count == 0) break;
        done += count;
    }
    const auto taken = clock.seconds_since(start);
    if (done == 0) return fail(unreadable(path));
    rate.gbps = taken > 0 ? static_cast<double>(done) / taken / 1e9 : 0;
    return rate;
}

}  // namespace ballast::machine
