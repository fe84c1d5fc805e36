#include "tests/fakes/far/far_memory.hpp"

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <new>

namespace ballast::testing::far {
namespace {

constexpr std::size_t kAlignment = 512;

}  // namespace

FarMemory::FarMemory(std::size_t capacity)
    : capacity_(capacity), addresses_(capacity), gaps_{{0, capacity}} {
    void* bytes = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) throw std::bad_alloc();
    bytes_ = static_cast<std::byte*>(bytes);
}

FarMemory::~FarMemory() { ::munmap(bytes_, capacity_); }

std::byte* FarMemory::allocate(std::size_t size) {
    const std::scoped_lock lock(mutex_);
    if (size > capacity_) return nullptr;
    const auto rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
    for (const auto& gap : gaps_) {
        const auto [at, room] = gap;
        if (room < rounded) continue;
        gaps_.erase(at);
        if (room > rounded) gaps_.emplace(at + rounded, room - rounded);
        taken_.emplace(at, rounded);
        used_ += rounded;
        std::memset(bytes_ + at, 0xFF, rounded);
        return addresses_.begin() + at;
    }
    return nullptr;
}

void FarMemory::give_back(std::byte* address) {
    const std::scoped_lock lock(mutex_);
    const auto block = taken_.find(static_cast<std::size_t>(address - addresses_.begin()));
    auto [offset, size] = *block;
    taken_.erase(block);
    used_ -= size;
    std::memset(bytes_ + offset, 0xFF, size);
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.end() && offset + size == next->first) {
        size += next->second;
        next = gaps_.erase(next);
    }
    if (next != gaps_.begin())
        if (const auto before = std::prev(next); before->first + before->second == offset) {
            before->second += size;
            return;
        }
    gaps_.emplace(offset, size);
}

bool FarMemory::holds(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= addresses_.begin() && at < addresses_.begin() + capacity_;
}

std::byte* FarMemory::reveal(const void* address) const {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(address) - addresses_.begin());
    const std::scoped_lock lock(mutex_);
    const auto after = taken_.upper_bound(offset);
    const bool is_taken =
        after != taken_.begin() && offset < std::prev(after)->first + std::prev(after)->second;
    TORCH_CHECK(is_taken, "far memory was used after it had been given back");
    return bytes_ + offset;
}

std::size_t FarMemory::used() const {
    const std::scoped_lock lock(mutex_);
    return used_;
}

}  // namespace ballast::testing::far
