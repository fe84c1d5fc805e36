#include "ballast/runtime/tensor/host_allocator.hpp"

#include <c10/core/Allocator.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "ballast/engine/device/host/mapped_memory.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime {
namespace {

using device::Ledger;
using device::Tag;

/// Blocks from here on are mapped one by one and kept for reuse; smaller ones are the C library's.
constexpr std::size_t kLarge = std::size_t{256} << 10U;

/// Stands before every block; keeps the data aligned to 64 bytes.
struct alignas(64) Header {
    std::size_t charged;   // bytes charged to the ledger: the whole block
    std::size_t capacity;  // usable bytes behind the header
    std::uint64_t era;     // which HostAccounting charged it
    Tag tag;               // what it is charged as now
};
static_assert(sizeof(Header) == 64);

class HostAllocator final : public c10::Allocator {
public:
    /// Lives as long as the process: torch keeps the pointer, and tensors may be freed at exit.
    static HostAllocator& instance() {
        static auto* const allocator = new HostAllocator;
        return *allocator;
    }

    c10::DataPtr allocate(std::size_t size) override {
        if (size == 0) return {nullptr, nullptr, &drop, c10::Device(c10::kCPU)};
        auto* data = take_data(size);
        return {data, data, &drop, c10::Device(c10::kCPU)};
    }

    void* take_data(std::size_t size) { return take(size) + 1; }

    static void drop(void* data) {
        if (data != nullptr) instance().put(static_cast<Header*>(data) - 1);
    }

    void require(std::size_t size) {
        const std::scoped_lock lock(mutex_);
        charge(size);
        if (ledger_) ledger_->give_back(kCpu, Bytes{size}, tag_);
    }

    Tag set_tag(Tag tag) {
        const std::scoped_lock lock(mutex_);
        return std::exchange(tag_, tag);
    }

    c10::DeleterFnPtr raw_deleter() const override { return &drop; }

    void copy_data(void* to, const void* from, std::size_t size) const override {
        std::memcpy(to, from, size);
    }

    void attach(std::shared_ptr<Ledger> ledger) {
        const std::scoped_lock lock(mutex_);
        ledger_ = std::move(ledger);
        ++era_;
    }

    void detach() {
        trim();
        const std::scoped_lock lock(mutex_);
        ledger_.reset();
        ++era_;
    }

    Bytes trim() {
        const std::scoped_lock lock(mutex_);
        return trim_locked();
    }

private:
    HostAllocator() = default;

    Header* take(std::size_t size) {
        const std::scoped_lock lock(mutex_);
        const bool is_large = size >= kLarge;
        if (is_large) {
            if (auto* header = reuse(size)) return header;
        }
        auto charged = size + sizeof(Header);
        if (is_large) charged = (charged + page_ - 1) / page_ * page_;
        charge(charged);
        void* memory = is_large ? device::map_memory(charged)
                                : std::aligned_alloc(64, (charged + 63) / 64 * 64);
        if (memory == nullptr) {
            if (ledger_) ledger_->give_back(kCpu, Bytes{charged}, tag_);
            throw std::bad_alloc();
        }
        return new (memory) Header{charged, charged - sizeof(Header), era_, tag_};
    }

    /// The smallest kept block that holds `size` without wasting more than a quarter of it.
    Header* reuse(std::size_t size) {
        const auto found = kept_.lower_bound(size);
        if (found == kept_.end() || found->first - size > size / 4) return nullptr;
        auto* header = found->second;
        if (ledger_) {
            // back and forth under our lock: nobody else charges activations
            ledger_->give_back(kCpu, Bytes{header->charged}, header->tag);
            if (!ledger_->try_take(kCpu, Bytes{header->charged}, tag_)) {
                kept_.erase(found);
                unmap(header);
                return nullptr;
            }
        }
        header->tag = tag_;
        kept_.erase(found);
        return header;
    }

    void charge(std::size_t size) {
        if (!ledger_ || ledger_->try_take(kCpu, Bytes{size}, tag_)) return;
        trim_locked();
        if (ledger_->try_take(kCpu, Bytes{size}, tag_)) return;
        throw Failure(refused(ledger_->refusal(kCpu, Bytes{size}, tag_)));
    }

    void put(Header* header) {
        const std::scoped_lock lock(mutex_);
        const bool is_ours = ledger_ && header->era == era_;
        if (is_ours) ledger_->give_back(kCpu, Bytes{header->charged}, header->tag);
        // what a simulated device held is no scratch of the host
        if (header->tag != Tag::simulation) header->tag = Tag::scratch;
        if (header->capacity < kLarge) {
            std::free(header);  // NOLINT(cppcoreguidelines-no-malloc)
        } else if (is_ours && ledger_->try_take(kCpu, Bytes{header->charged}, header->tag)) {
            kept_.emplace(header->capacity, header);
        } else {
            unmap(header);
        }
    }

    Bytes trim_locked() {
        Bytes released;
        for (const auto& [capacity, header] : kept_) {
            if (ledger_) ledger_->give_back(kCpu, Bytes{header->charged}, header->tag);
            released += Bytes{header->charged};
            unmap(header);
        }
        kept_.clear();
        return released;
    }

    /// What was held when the limit refused, and what was asked for: more may be needed later.
    [[nodiscard]] Error refused(Error error) const {
        const auto snapshot = ledger_->snapshot();
        const auto use = snapshot.find(kCpu);
        const auto lack = error.shortfall.find(kCpu);
        error.code = Code::out_of_memory;
        error.hint = "use a smaller picture or batch, or raise the limit";
        if (use != snapshot.end() && lack != error.shortfall.end())
            error.hint += fmt::format(" with --memory-limit cpu={} or more",
                                      use->second.now.count() + lack->second.needed);
        return error;
    }

    static void unmap(Header* header) {
        device::unmap_memory(reinterpret_cast<std::byte*>(header), header->charged);
    }

    /// What the system maps at once: 4 KiB, or 16 or 64 on some machines.
    const std::size_t page_ = device::page_size();
    std::mutex mutex_;
    std::shared_ptr<Ledger> ledger_;
    std::uint64_t era_ = 0;
    Tag tag_ = Tag::activations;                // of what is taken from now on
    std::multimap<std::size_t, Header*> kept_;  // by capacity; only blocks of the current era
};

}  // namespace

HostAccounting::HostAccounting(std::shared_ptr<device::Ledger> ledger) {
    auto& allocator = HostAllocator::instance();
    allocator.attach(std::move(ledger));
    c10::SetAllocator(c10::kCPU, &allocator, 1);
}

HostAccounting::~HostAccounting() { HostAllocator::instance().detach(); }

SimulatedArithmetic::SimulatedArithmetic()
    : former_(HostAllocator::instance().set_tag(Tag::simulation)) {}

SimulatedArithmetic::~SimulatedArithmetic() { HostAllocator::instance().set_tag(former_); }

Bytes HostAccounting::trim() { return trim_host_memory(); }

Bytes trim_host_memory() { return HostAllocator::instance().trim(); }

void* take_host_memory(std::size_t size) { return HostAllocator::instance().take_data(size); }

void give_host_memory_back(void* data) noexcept { HostAllocator::drop(data); }

void require_host_memory(Bytes size) { HostAllocator::instance().require(size.count()); }

}  // namespace ballast::runtime
