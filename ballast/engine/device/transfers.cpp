#include "ballast/engine/device/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ballast::device {
namespace {

/// Large enough that latencies do not count, small enough for any host.
constexpr std::size_t kPiece = std::size_t{8} << 20U;
/// Where memory is short: slower, but it works.
constexpr std::size_t kLeastPiece = std::size_t{32} << 10U;

}  // namespace

/// Two pieces of host memory, so that one is filled while the other is emptied.
struct Transfers::Staging {
    Reservation reservation;
    std::array<Memory, 2> pieces;
    std::array<std::optional<Event>, 2> emptied;
};

Transfers::Transfers(const DeviceSet& devices, Ledger& ledger)
    : devices_(&devices), ledger_(&ledger) {}

Transfers::~Transfers() = default;

Result<void> Transfers::copy(Target to, Source from) {
    const std::scoped_lock lock(mutex_);
    if (to.bytes.size() != from.bytes.size())
        return fail(Error{
            .code = Code::internal,
            .what = "cannot copy",
            .why = fmt::format("{} bytes do not go into {}", from.bytes.size(), to.bytes.size()),
            .hint = "report this as a fault of Ballast"});
    const auto* target = devices_->find(to.device);
    const bool is_direct = to.device == kCpu || (target != nullptr && target->reaches(from.device));
    auto done = is_direct ? copy_directly(to, from) : copy_through_host(to, from);
    if (!done) {
        // a stream that failed once stays as it is; destroying it finishes what is queued
        if (staging_) staging_->emptied = {};
        streams_.erase(to.device);
        streams_.erase(from.device);
        return done;
    }
    const std::scoped_lock counting(counts_mutex_);
    ++counts_.asked_for.copies;
    counts_.asked_for.bytes += Bytes{to.bytes.size()};
    if (is_direct) return {};
    ++counts_.staged.copies;
    counts_.staged.bytes += Bytes{to.bytes.size()};
    return {};
}

Result<Stream*> Transfers::stream_of(DeviceId id) {
    auto& stream = streams_[id];
    if (stream) return stream.get();
    auto* device = devices_->find(id);
    if (device == nullptr)
        return fail(Error{.code = Code::not_available,
                          .what = "cannot copy",
                          .why = fmt::format("there is no device {}", to_string(id)),
                          .hint = "plan for the devices that are there"});
    auto opened = device->open_stream();
    if (!opened) return fail(std::move(opened).error());
    stream = *std::move(opened);
    return stream.get();
}

void Transfers::count(DeviceId from, DeviceId to, std::size_t bytes) {
    const std::scoped_lock lock(counts_mutex_);
    auto& way = counts_.ways[{from, to}];
    ++way.copies;
    way.bytes += Bytes{bytes};
}

/// Between host and device the device copies.
Result<void> Transfers::copy_directly(const Target& to, const Source& from) {
    auto stream = stream_of(to.device == kCpu ? from.device : to.device);
    if (!stream) return fail(std::move(stream).error());
    if (auto queued = (*stream)->copy(to, from); !queued) return queued;
    if (auto done = (*stream)->finish(); !done) return done;
    count(from.device, to.device, to.bytes.size());
    return {};
}

Result<Transfers::Staging*> Transfers::staging() {
    if (staging_) return staging_.get();
    auto made = std::make_unique<Staging>();
    auto size = kPiece;
    while (size > kLeastPiece && !ledger_->try_take(kCpu, Bytes{2 * size}, Tag::staging)) size /= 2;
    if (size > kLeastPiece) ledger_->give_back(kCpu, Bytes{2 * size}, Tag::staging);
    auto room = ledger_->reserve(kCpu, Bytes{2 * size}, Tag::staging);
    if (!room) return fail(std::move(room).error());
    made->reservation = *std::move(room);
    auto* host = devices_->find(kCpu);
    for (auto& piece : made->pieces) {
        auto memory = host->allocate(Bytes{size});
        if (!memory) return fail(std::move(memory).error());
        piece = *std::move(memory);
    }
    staging_ = std::move(made);
    return staging_.get();
}

Result<void> Transfers::copy_through_host(const Target& to, const Source& from) {
    auto reader = stream_of(from.device);
    if (!reader) return fail(std::move(reader).error());
    auto writer = stream_of(to.device);
    if (!writer) return fail(std::move(writer).error());
    auto queued = queue_pieces(**reader, **writer, to, from);
    // whatever happened, nobody touches the ends after this
    auto read = (*reader)->finish();
    auto written = (*writer)->finish();
    if (!queued) return queued;
    if (!read) return read;
    return written;
}

Result<void> Transfers::queue_pieces(Stream& reader, Stream& writer, const Target& to,
                                     const Source& from) {
    const auto staging = this->staging();
    if (!staging) return fail(staging.error());
    const auto size = from.bytes.size();
    const auto most = (*staging)->pieces[0].size();
    for (std::size_t done = 0, turn = 0; done < size; done += most, turn = 1 - turn) {
        const auto length = std::min(most, size - done);
        const std::span<std::byte> piece{(*staging)->pieces[turn].data(), length};
        auto& emptied = (*staging)->emptied[turn];
        if (emptied)
            if (auto free = reader.wait(*emptied); !free) return free;
        auto read = reader.copy({kCpu, piece}, {from.device, from.bytes.subspan(done, length)});
        if (!read) return read;
        const auto filled = reader.record();
        if (!filled) return fail(filled.error());
        if (auto ordered = writer.wait(*filled); !ordered) return ordered;
        auto written = writer.copy({to.device, to.bytes.subspan(done, length)}, {kCpu, piece});
        if (!written) return written;
        auto event = writer.record();
        if (!event) return fail(std::move(event).error());
        emptied = *std::move(event);
        count(from.device, kCpu, length);
        count(kCpu, to.device, length);
    }
    return {};
}

void Transfers::release_staging() {
    const std::scoped_lock lock(mutex_);
    staging_.reset();
}

void Transfers::count_read(DeviceId to, Bytes bytes) {
    count(kDisk, to, bytes.count());
    const std::scoped_lock counting(counts_mutex_);
    ++counts_.asked_for.copies;
    counts_.asked_for.bytes += bytes;
}

TransferCounts Transfers::counts() const {
    const std::scoped_lock lock(counts_mutex_);
    return counts_;
}

void Transfers::reset_counts() {
    const std::scoped_lock lock(counts_mutex_);
    counts_ = {};
}

}  // namespace ballast::device
