#include "ballast/engine/weights/reading.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

namespace ballast::weights {
namespace {

/// Reads are split so that several threads share one large tensor, and large enough that the
/// system's read-ahead works.
constexpr std::size_t kChunk = std::size_t{4} << 20U;
/// With less host memory than that to go through, nothing is read.
constexpr std::size_t kSmallestPiece = std::size_t{64} << 10U;

std::vector<FileRange> in_chunks(const std::vector<FileRange>& ranges) {
    std::vector<FileRange> chunks;
    for (const auto& range : ranges)
        for (std::size_t done = 0; done < range.to.bytes.size(); done += kChunk)
            chunks.push_back(
                {range.offset + done,
                 {range.to.device,
                  range.to.bytes.subspan(done, std::min(kChunk, range.to.bytes.size() - done))}});
    // in file order the disk's read-ahead helps, whatever the model order is
    std::ranges::sort(chunks, {}, &FileRange::offset);
    return chunks;
}

/// Host memory of one thread, for devices whose memory the host cannot address: a chunk, or less
/// where there is no room for that.
class Staging {
public:
    static Result<Staging> make(device::Transfers& transfers, device::Ledger& ledger) {
        Staging staging;
        auto size = kChunk;
        auto room = ledger.reserve(kCpu, Bytes{size}, device::Tag::staging);
        while (!room && size > kSmallestPiece) {
            size /= 2;
            room = ledger.reserve(kCpu, Bytes{size}, device::Tag::staging);
        }
        if (!room) return fail(std::move(room).error());
        staging.size_ = size;
        staging.reservation_ = *std::move(room);
        auto memory = transfers.devices().find(kCpu)->allocate(Bytes{size});
        if (!memory) return fail(std::move(memory).error());
        staging.memory_ = *std::move(memory);
        return staging;
    }
    /// `size` bytes, or all that there are.
    [[nodiscard]] std::span<std::byte> bytes(std::size_t size) const {
        return {memory_.data(), std::min(size, size_)};
    }

private:
    std::size_t size_ = 0;
    device::Reservation reservation_;
    device::Memory memory_;
};

/// One thread's work.
class Worker {
public:
    Worker(const formats::Reader& reader, device::Transfers& transfers, device::Ledger& ledger)
        : reader_(&reader), transfers_(&transfers), ledger_(&ledger) {}

    /// Takes the memory for `read` if some of `chunks` need it.
    Result<void> prepare(const std::vector<FileRange>& chunks) {
        if (std::ranges::all_of(chunks, [&](const auto& chunk) { return is_direct(chunk); }))
            return {};
        auto made = Staging::make(*transfers_, *ledger_);
        if (!made) return fail(std::move(made).error());
        staging_ = *std::move(made);
        return {};
    }

    Result<void> read(const FileRange& range) {
        if (is_direct(range)) return reader_->read(range.offset, range.to.bytes);
        const auto whole = range.to.bytes;
        for (std::size_t done = 0; done < whole.size();) {
            const auto piece = staging_->bytes(whole.size() - done);
            if (auto read = reader_->read(range.offset + done, piece); !read) return read;
            const device::Target to{range.to.device, whole.subspan(done, piece.size())};
            if (auto copied = transfers_->copy(to, {kCpu, piece}); !copied) return copied;
            done += piece.size();
        }
        return {};
    }

private:
    [[nodiscard]] bool is_direct(const FileRange& range) const {
        return transfers_->devices().find(range.to.device)->is_host_accessible();
    }

    const formats::Reader* reader_;
    device::Transfers* transfers_;
    device::Ledger* ledger_;
    std::optional<Staging> staging_;
};

}  // namespace

Result<void> read_ranges(const formats::Reader& reader, const std::vector<FileRange>& ranges,
                         device::Transfers& transfers, device::Ledger& ledger, unsigned threads) {
    const auto chunks = in_chunks(ranges);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::optional<Error> failure;
    const auto work = [&](Worker& worker) {
        for (auto i = next.fetch_add(1); i < chunks.size(); i = next.fetch_add(1)) {
            auto done = worker.read(chunks[i]);
            if (done) continue;
            const std::scoped_lock lock(mutex);
            if (!failure) failure = std::move(done).error();
            next.store(chunks.size());
        }
    };
    Worker own(reader, transfers, ledger);
    if (auto ready = own.prepare(chunks); !ready) return ready;
    {
        std::vector<std::jthread> helpers;
        const auto useful = std::min<std::size_t>(std::max(1U, threads), chunks.size());
        for (std::size_t i = 1; i < useful; ++i)
            helpers.emplace_back([&] {
                Worker helper(reader, transfers, ledger);
                // without room for a helper the others do its work
                if (helper.prepare(chunks)) work(helper);
            });
        work(own);
    }
    if (failure) return fail(*std::move(failure));
    return {};
}

}  // namespace ballast::weights
