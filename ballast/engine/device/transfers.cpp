#include "ballast/engine/device/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ballast::device {
namespace {

/// Large enough that latencies do not count, small enough for any host.
constexpr std::size_t kPiece = std::size_t{8} << 20U;

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
    const auto* target = devices_->find(to.device);
    if (to.device == kCpu || (target != nullptr && target->reaches(from.device))) {
        // between host and device the device copies
        auto stream = stream_of(to.device == kCpu ? from.device : to.device);
        if (!stream) return fail(std::move(stream).error());
        return copy_directly(**stream, to, from);
    }
    return copy_through_host(to, from);
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

Result<void> Transfers::copy_directly(Stream& stream, const Target& to, const Source& from) {
    if (auto queued = stream.copy(to, from); !queued) return queued;
    if (auto done = stream.finish(); !done) return done;
    auto& count = counts_.ways[{from.device, to.device}];
    ++count.copies;
    count.bytes += Bytes{to.bytes.size()};
    return {};
}

Result<void> Transfers::copy_through_host(const Target& to, const Source& from) {
    auto reader = stream_of(from.device);
    if (!reader) return fail(std::move(reader).error());
    auto writer = stream_of(to.device);
    if (!writer) return fail(std::move(writer).error());
    if (!staging_) {
        auto made = std::make_unique<Staging>();
        auto room = ledger_->reserve(kCpu, Bytes{2 * kPiece}, Tag::staging);
        if (!room) return fail(std::move(room).error());
        made->reservation = *std::move(room);
        for (auto& piece : made->pieces) {
            auto memory = devices_->find(kCpu)->allocate(Bytes{kPiece});
            if (!memory) return fail(std::move(memory).error());
            piece = *std::move(memory);
        }
        staging_ = std::move(made);
    }
    const auto size = from.bytes.size();
    for (std::size_t done = 0, turn = 0; done < size; done += kPiece, turn = 1 - turn) {
        const auto length = std::min(kPiece, size - done);
        const std::span<std::byte> piece{staging_->pieces[turn].data(), length};
        auto& emptied = staging_->emptied[turn];
        if (emptied)
            if (auto free = (*reader)->wait(*emptied); !free) return free;
        auto read = (*reader)->copy({kCpu, piece}, {from.device, from.bytes.subspan(done, length)});
        if (!read) return read;
        auto filled = (*reader)->record();
        if (!filled) return fail(std::move(filled).error());
        if (auto ordered = (*writer)->wait(*filled); !ordered) return ordered;
        auto written = (*writer)->copy({to.device, to.bytes.subspan(done, length)}, {kCpu, piece});
        if (!written) return written;
        auto event = (*writer)->record();
        if (!event) return fail(std::move(event).error());
        emptied = *std::move(event);
        for (const auto& [one, other] :
             {std::pair{from.device, kCpu}, std::pair{kCpu, to.device}}) {
            ++counts_.ways[{one, other}].copies;
            counts_.ways[{one, other}].bytes += Bytes{length};
        }
    }
    if (auto done = (*writer)->finish(); !done) return done;
    if (auto done = (*reader)->finish(); !done) return done;
    ++counts_.staged.copies;
    counts_.staged.bytes += Bytes{size};
    return {};
}

TransferCounts Transfers::counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
}

void Transfers::reset_counts() {
    const std::scoped_lock lock(mutex_);
    counts_ = {};
}

}  // namespace ballast::device
