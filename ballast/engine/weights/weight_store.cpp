#include "ballast/engine/weights/weight_store.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace ballast::weights {
namespace {

/// Reads are split so that several threads share one large tensor, and large enough that the
/// system's read-ahead works.
constexpr std::uint64_t kChunk = 4ULL << 20U;

Error cannot_load(Code code, std::string why, std::string hint) {
    return {.code = code,
            .what = "cannot load the weights",
            .why = std::move(why),
            .hint = std::move(hint)};
}

/// The largest power of two up to a cache line that divides `bytes`.
std::uint64_t alignment_of(std::uint64_t bytes) {
    constexpr std::uint64_t kCacheLine = 64;
    return std::min(bytes & (~bytes + 1), kCacheLine);
}

/// Whether every block has a home that can hold it, and the compute device is there, too.
Result<void> check_homes(const plan::BlockTable& table, const plan::Plan& plan) {
    const auto& blocks = table.blocks();
    if (plan.homes.size() != blocks.size())
        return fail(cannot_load(Code::internal,
                                fmt::format("the plan has homes for {} blocks, the model has {}",
                                            plan.homes.size(), blocks.size()),
                                "report this as a fault of Ballast"));
    const auto refusal = [](std::string_view what, DeviceId device) {
        return cannot_load(
            Code::not_available,
            fmt::format("{} is {}; weights can live on cpu only so far", what, to_string(device)),
            "plan all blocks for cpu");
    };
    if (plan.compute != kCpu) return fail(refusal("the compute device", plan.compute));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (plan.homes[i] == kCpu) continue;
        auto error = refusal("the block's home", plan.homes[i]);
        error.place.key = blocks[i].name;
        return fail(std::move(error));
    }
    return {};
}

}  // namespace

/// All blocks of one device in one anonymous mapping: given back to the system at once, in full,
/// when the store goes, whatever the allocator's habits are.
class WeightStore::Region {
public:
    Region() = default;
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region() {
        if (base_ != nullptr) ::munmap(base_, size_);
    }

    [[nodiscard]] bool allocate(std::size_t size) {
        if (size == 0) return true;
        // not MAP_NORESERVE: the system shall refuse here what it cannot give, not end the process
        // when a page is touched
        void* memory =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return false;
        base_ = static_cast<std::byte*>(memory);
        size_ = size;
        return true;
    }
    [[nodiscard]] std::byte* at(std::size_t offset) const { return base_ + offset; }

private:
    std::byte* base_ = nullptr;
    std::size_t size_ = 0;
};

Pin::Pin(Pin&& other) noexcept : store_(std::exchange(other.store_, nullptr)), id_(other.id_) {}

Pin& Pin::operator=(Pin&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(id_, other.id_);
    return *this;
}

Pin::~Pin() {
    if (store_ != nullptr) store_->pins_.fetch_sub(1, std::memory_order_relaxed);
}

const plan::Block& Pin::block() const { return store_->table()[id_]; }

std::span<const std::byte> Pin::bytes(std::size_t tensor) const {
    const auto& entry = block().tensors[tensor];
    const auto offset = store_->placed_[id_.index][tensor];
    return {store_->region_->at(offset), entry.bytes.count()};
}

WeightStore::WeightStore(plan::BlockTable table, plan::Plan plan)
    : table_(std::move(table)), plan_(std::move(plan)), region_(std::make_unique<Region>()) {}

WeightStore::~WeightStore() = default;

Result<Pin> WeightStore::pin(plan::BlockId id) const {
    pins_.fetch_add(1, std::memory_order_relaxed);
    return Pin(this, id);
}

Result<void> WeightStore::read_all(const formats::Reader& reader, unsigned threads) {
    struct Piece {
        std::uint64_t from;
        std::span<std::byte> to;
    };
    std::vector<Piece> pieces;
    for (std::size_t b = 0; b < table_.blocks().size(); ++b) {
        const auto& tensors = table_.blocks()[b].tensors;
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            const auto size = tensors[t].bytes.count();
            for (std::uint64_t done = 0; done < size; done += kChunk)
                pieces.push_back(
                    {tensors[t].offset + done,
                     {region_->at(placed_[b][t] + done), std::min(kChunk, size - done)}});
        }
    }
    // in file order the disk's read-ahead helps, whatever the model order is
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.from < b.from; });

    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::optional<Error> failure;
    const auto work = [&] {
        for (auto i = next.fetch_add(1); i < pieces.size(); i = next.fetch_add(1)) {
            auto done = reader.read(pieces[i].from, pieces[i].to);
            if (done) continue;
            const std::scoped_lock lock(mutex);
            if (!failure) failure = std::move(done).error();
            next.store(pieces.size());
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
        work();
    }
    if (failure) return fail(*std::move(failure));
    return {};
}

std::size_t WeightStore::lay_out() {
    struct Slot {
        std::size_t block;
        std::size_t tensor;
        std::uint64_t bytes;
    };
    std::vector<Slot> slots;
    const auto& blocks = table_.blocks();
    realised_.try_emplace(plan_.compute);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        placed_.emplace_back(blocks[b].tensors.size());
        for (std::size_t t = 0; t < blocks[b].tensors.size(); ++t)
            slots.push_back({b, t, blocks[b].tensors[t].bytes.count()});
    }
    // No byte is lost between tensors: first those that end where a cache line does, then the
    // others by how evenly their sizes divide, so that each begins at a multiple of its element.
    std::ranges::stable_sort(slots, std::ranges::greater{},
                             [](const Slot& slot) { return alignment_of(slot.bytes); });
    std::size_t end = 0;
    for (const auto& slot : slots) {
        placed_[slot.block][slot.tensor] = end;
        end += slot.bytes;
        realised_[plan_.homes[slot.block]] += Bytes{slot.bytes};
    }
    return end;
}

Result<std::shared_ptr<const WeightStore>> WeightStore::load(LoadRequest request) {
    if (!request.plan.fits) {
        auto error = cannot_load(Code::does_not_fit, "the plan does not fit",
                                 "make a plan that fits, or free memory first");
        error.shortfall = request.plan.shortfall;
        return fail(std::move(error));
    }
    if (auto homes = check_homes(request.table, request.plan); !homes)
        return fail(std::move(homes).error());
    std::shared_ptr<WeightStore> store(
        new WeightStore(std::move(request.table), std::move(request.plan)));
    const auto size = store->lay_out();
    for (const auto& [device, bytes] : store->realised_) {
        auto reservation = request.ledger->reserve(device, bytes, device::Tag::weights);
        if (!reservation) return fail(std::move(reservation).error());
        store->reservations_.push_back(*std::move(reservation));
    }
    if (!store->region_->allocate(size)) {
        auto error = cannot_load(Code::out_of_memory,
                                 "the system refused " + to_string(Bytes{size}) + " of memory",
                                 "close other programs, or use a smaller model");
        error.shortfall = {{kCpu, {.needed = size, .available = 0}}};
        return fail(std::move(error));
    }
    auto read = store->read_all(*request.reader, std::max(1U, request.reading_threads));
    if (!read) return fail(std::move(read).error());
    return store;
}

}  // namespace ballast::weights
