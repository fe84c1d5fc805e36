#include "ballast/engine/weights/weight_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/weights/reading.hpp"

namespace ballast::weights {
namespace {

Error cannot_load(Code code, std::string why, std::string hint) {
    return {.code = code,
            .what = "cannot load the weights",
            .why = std::move(why),
            .hint = std::move(hint)};
}

Error fault(std::string why) {
    return cannot_load(Code::internal, std::move(why), "report this as a fault of Ballast");
}

/// The first device that is promised other bytes than `laid_out`; empty: the plan is kept.
std::optional<Error> broken_promise(const std::map<DeviceId, Bytes>& promised,
                                    const std::map<DeviceId, Bytes>& laid_out) {
    auto devices = promised;
    devices.insert(laid_out.begin(), laid_out.end());
    const auto bytes = [](const std::map<DeviceId, Bytes>& sums, DeviceId device) {
        const auto found = sums.find(device);
        return found == sums.end() ? Bytes{} : found->second;
    };
    for (const auto& [device, ignored] : devices) {
        const auto planned = bytes(promised, device);
        const auto realised = bytes(laid_out, device);
        if (planned == realised) continue;
        auto error = fault(fmt::format("the plan has {} bytes for {}, its blocks take {}",
                                       planned.count(), to_string(device), realised.count()));
        error.place.key = to_string(device);
        return error;
    }
    return std::nullopt;
}

}  // namespace

Pin::Pin(Pin&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)), id_(other.id_), slot_(other.slot_) {}

Pin& Pin::operator=(Pin&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(id_, other.id_);
    std::swap(slot_, other.slot_);
    return *this;
}

Pin::~Pin() {
    if (store_ == nullptr) return;
    if (slot_) store_->ring_->release(*slot_);
    store_->pins_.fetch_sub(1, std::memory_order_relaxed);
}

const plan::Block& Pin::block() const { return store_->table()[id_]; }

std::span<const std::byte> Pin::bytes(std::size_t tensor) const {
    const auto& layout = store_->layout_.blocks[id_.index];
    const auto size = block().tensors[tensor].bytes.count();
    if (slot_) return store_->ring_->bytes(*slot_).subspan(layout.tensors[tensor], size);
    return {store_->rooms_[layout.segment].memory.data() + layout.place(tensor), size};
}

WeightStore::WeightStore(LoadRequest request)
    : reader_(std::move(request.reader)),
      table_(std::move(request.table)),
      plan_(std::move(request.plan)),
      ledger_(request.ledger),
      transfers_(request.transfers),
      reading_threads_(request.reading_threads) {
    if (transfers_ != nullptr) return;
    own_devices_.emplace(std::vector<std::shared_ptr<device::Device>>{device::make_host_device()});
    own_transfers_ = std::make_unique<device::Transfers>(*own_devices_, *ledger_);
    transfers_ = own_transfers_.get();
}

WeightStore::~WeightStore() = default;

bool WeightStore::is_streamed(plan::BlockId id) const {
    const auto home = plan_.homes[id.index];
    return home != plan_.compute && !plan_.read_in_place.contains(home);
}

Result<Pin> WeightStore::pin(plan::BlockId id) const {
    if (!is_complete_)
        return fail(Error{.code = Code::internal,
                          .what = "cannot use the weights",
                          .why = "a part of the model has made room for others",
                          .hint = "load the model again before it is used"});
    std::optional<std::size_t> slot;
    if (is_streamed(id)) {
        auto brought =
            ring_->acquire(id, [&](std::span<std::byte> bytes) { return bring(id, bytes); });
        if (!brought) {
            auto error = std::move(brought).error();
            if (error.place.key.empty()) error.place.key = table_[id].name;
            return fail(std::move(error));
        }
        slot = *brought;
    }
    pins_.fetch_add(1, std::memory_order_relaxed);
    return Pin(this, id, slot);
}

std::span<const std::byte> WeightStore::at_home(plan::BlockId id, const Piece& piece) const {
    return {rooms_[layout_.blocks[id.index].segment].memory.data() + piece.at, piece.size};
}

Result<void> WeightStore::bring(plan::BlockId id, std::span<std::byte> slot) const {
    const auto home = plan_.homes[id.index];
    const auto& layout = layout_.blocks[id.index];
    if (home.kind != DeviceKind::disk) {
        for (const auto& piece : layout.pieces) {
            auto copied = transfers_->copy({plan_.compute, slot.subspan(piece.within, piece.size)},
                                           {home, at_home(id, piece)});
            if (!copied) return copied;
        }
        return {};
    }
    std::vector<FileRange> ranges;
    const auto& tensors = table_[id].tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t)
        ranges.push_back(
            {tensors[t].offset,
             {plan_.compute, slot.subspan(layout.tensors[t], tensors[t].bytes.count())}});
    auto read = read_ranges(*reader_, ranges, *transfers_, *ledger_, 1);
    if (read && transfers_->devices().find(plan_.compute)->is_host_accessible())
        transfers_->count_read(plan_.compute, Bytes{layout.size});
    return read;
}

/// Whether the plan is one for this model and these devices.
Result<void> WeightStore::check() const {
    const auto& blocks = table_.blocks();
    if (plan_.homes.size() != blocks.size())
        return fail(fault(fmt::format("the plan has homes for {} blocks, the model has {}",
                                      plan_.homes.size(), blocks.size())));
    const auto refusal = [](std::string_view what, DeviceId device) {
        return cannot_load(Code::not_available,
                           fmt::format("{} is {}, which is not there", what, to_string(device)),
                           "plan for the devices that are there");
    };
    const auto& devices = transfers_->devices();
    if (devices.find(plan_.compute) == nullptr)
        return fail(refusal("the compute device", plan_.compute));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto home = plan_.homes[i];
        if (home.kind == DeviceKind::disk || devices.find(home) != nullptr) continue;
        auto error = refusal("the block's home", home);
        error.place.key = blocks[i].name;
        return fail(std::move(error));
    }
    return {};
}

std::map<DeviceId, Bytes> WeightStore::present() const {
    auto sums = layout_.per_device;
    for (std::size_t s = 0; s < rooms_.size(); ++s) {
        if (rooms_[s].is_filled) continue;
        const auto& segment = layout_.segments[s];
        sums[segment.device] = sums[segment.device].minus_or_zero(Bytes{segment.size});
    }
    return sums;
}

std::map<DeviceId, Bytes> WeightStore::held() const {
    std::map<DeviceId, Bytes> sums;
    for (const auto& room : rooms_)
        if (!room.reservation.bytes().is_zero())
            sums[room.reservation.device()] += room.reservation.bytes();
    if (!ring_reservation_.bytes().is_zero()) sums[plan_.compute] += ring_reservation_.bytes();
    return sums;
}

std::vector<Bytes> WeightStore::tail(DeviceId device) const {
    std::vector<Bytes> pieces;
    if (device == plan_.compute && !ring_reservation_.bytes().is_zero())
        pieces.push_back(ring_reservation_.bytes());
    for (auto s = rooms_.size(); s-- > 0;)
        if (layout_.segments[s].device == device && !rooms_[s].reservation.bytes().is_zero())
            pieces.push_back(rooms_[s].reservation.bytes());
    return pieces;
}

Bytes WeightStore::release_tail(DeviceId device, Bytes bytes) {
    if (pins() != 0) throw std::logic_error("weights that somebody computes with cannot go");
    Bytes gone;
    if (device == plan_.compute && ring_ && gone < bytes) {
        ring_.reset();
        gone += ring_reservation_.bytes();
        ring_reservation_.release();
    }
    for (auto s = rooms_.size(); s-- > 0 && gone < bytes;) {
        if (layout_.segments[s].device != device) continue;
        gone += rooms_[s].reservation.bytes();
        rooms_[s].clear();
    }
    if (!gone.is_zero()) is_complete_ = false;
    return gone;
}

void WeightStore::Room::clear() {
    memory = {};  // before the account says that it is free
    reservation.release();
    is_filled = false;
}

void WeightStore::let_go() {
    if (pins() != 0) throw std::logic_error("weights that somebody computes with cannot go");
    for (auto& room : rooms_) room.clear();
    ring_.reset();
    ring_reservation_.release();
    in_file_.release();
    is_complete_ = false;
}

/// Takes the segments that both have.
void WeightStore::take_over(WeightStore& former) {
    if (former.pins() != 0) throw std::logic_error("weights that somebody computes with stay");
    std::map<std::pair<DeviceId, std::uint32_t>, std::size_t> by_first_block;
    for (std::size_t s = 0; s < former.rooms_.size(); ++s)
        if (former.rooms_[s].is_filled) {
            const auto& segment = former.layout_.segments[s];
            by_first_block.emplace(std::pair(segment.device, segment.blocks.front()), s);
        }
    for (std::size_t s = 0; s < rooms_.size(); ++s) {
        const auto& wanted = layout_.segments[s];
        const auto found = by_first_block.find({wanted.device, wanted.blocks.front()});
        if (found == by_first_block.end()) continue;
        if (former.layout_.segments[found->second] != wanted) continue;
        rooms_[s] = std::exchange(former.rooms_[found->second], {});
        taken_over_ += Bytes{wanted.size};
    }
}

Result<void> WeightStore::reserve() {
    const auto take = [&](DeviceId device, Bytes bytes, device::Tag tag,
                          device::Reservation& place) -> Result<void> {
        auto reservation = ledger_->reserve(device, bytes, tag);
        if (!reservation) return fail(std::move(reservation).error());
        place = *std::move(reservation);
        return {};
    };
    // in one piece for each device, so that a refusal tells all that is missing there
    std::map<DeviceId, Bytes> missing;
    for (std::size_t s = 0; s < rooms_.size(); ++s)
        if (!rooms_[s].is_filled)
            missing[layout_.segments[s].device] += Bytes{layout_.segments[s].size};
    for (const auto& [device, bytes] : missing) {
        device::Reservation probe;
        if (auto taken = take(device, bytes, device::Tag::weights, probe); !taken) return taken;
    }
    for (std::size_t s = 0; s < rooms_.size(); ++s) {
        const auto& segment = layout_.segments[s];
        if (rooms_[s].is_filled) continue;
        auto taken =
            take(segment.device, Bytes{segment.size}, device::Tag::weights, rooms_[s].reservation);
        if (!taken) return taken;
    }
    const auto in_file = layout_.per_device.find(kDisk);
    if (in_file != layout_.per_device.end())
        if (auto taken = take(kDisk, in_file->second, device::Tag::weights, in_file_); !taken)
            return taken;
    if (plan_.ring.is_zero()) return {};
    return take(plan_.compute, plan_.ring, device::Tag::ring, ring_reservation_);
}

Result<void> WeightStore::allocate() {
    const auto on = [&](DeviceId device, Bytes size) {
        return transfers_->devices().find(device)->allocate(size);
    };
    for (std::size_t s = 0; s < rooms_.size(); ++s) {
        if (rooms_[s].is_filled) continue;
        auto memory = on(layout_.segments[s].device, Bytes{layout_.segments[s].size});
        if (!memory) return fail(std::move(memory).error());
        rooms_[s].memory = *std::move(memory);
    }
    Bytes largest;
    for (std::uint32_t i = 0; i < plan_.homes.size(); ++i)
        if (is_streamed({i})) largest = std::max(largest, Bytes{layout_.blocks[i].size});
    if (plan_.ring < largest.times(Ring::kSlots))
        return fail(fault(fmt::format("the plan has a ring of {}, its largest block takes {}",
                                      to_string(plan_.ring), to_string(largest))));
    if (plan_.ring.is_zero()) return {};
    auto memory = on(plan_.compute, plan_.ring);
    if (!memory) return fail(std::move(memory).error());
    ring_ = std::make_unique<Ring>(*std::move(memory));
    return {};
}

Result<void> WeightStore::read() {
    std::vector<FileRange> ranges;
    for (std::size_t s = 0; s < rooms_.size(); ++s) {
        if (rooms_[s].is_filled) continue;
        const auto& segment = layout_.segments[s];
        for (const auto b : segment.blocks) {
            const auto& tensors = table_.blocks()[b].tensors;
            for (std::size_t t = 0; t < tensors.size(); ++t)
                ranges.push_back({tensors[t].offset,
                                  {segment.device,
                                   {rooms_[s].memory.data() + layout_.blocks[b].place(t),
                                    tensors[t].bytes.count()}}});
        }
    }
    auto done = read_ranges(*reader_, ranges, *transfers_, *ledger_, reading_threads_);
    if (!done) return done;
    for (auto& room : rooms_) room.is_filled = true;
    return {};
}

Result<std::shared_ptr<WeightStore>> WeightStore::load(LoadRequest request) {
    if (!request.plan.fits) {
        auto error = cannot_load(Code::does_not_fit, "the plan does not fit",
                                 "make a plan that fits, or free memory first");
        error.shortfall = request.plan.shortfall;
        return fail(std::move(error));
    }
    const auto former = std::move(request.former);
    const auto least_segment = request.least_segment;
    std::shared_ptr<WeightStore> store(new WeightStore(std::move(request)));
    if (auto checked = store->check(); !checked) return fail(std::move(checked).error());
    store->layout_ = lay_out(store->table_, store->plan_.homes, least_segment);
    store->layout_.per_device.try_emplace(store->plan_.compute);
    if (auto broken = broken_promise(store->plan_.per_device, store->layout_.per_device))
        return fail(*std::move(broken));
    store->rooms_.resize(store->layout_.segments.size());
    if (former) {
        store->take_over(*former);
        former->let_go();
    }
    for (const auto step : {&WeightStore::reserve, &WeightStore::allocate, &WeightStore::read})
        if (auto done = ((*store).*step)(); !done) return fail(std::move(done).error());
    store->is_complete_ = true;
    if (!store->layout_.per_device.contains(kDisk)) store->reader_.reset();
    return store;
}

}  // namespace ballast::weights
