#include "tests/support/allocation_watch.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

struct Counts {
    std::size_t largest = 0;
    std::int64_t held = 0;
    std::int64_t peak = 0;
};

thread_local constinit Counts counts;

void* counted(std::size_t size) noexcept {
    void* memory = std::malloc(std::max<std::size_t>(size, 1));  // NOLINT
    if (memory == nullptr) return nullptr;
    counts.largest = std::max(counts.largest, size);
    counts.held += static_cast<std::int64_t>(malloc_usable_size(memory));
    counts.peak = std::max(counts.peak, counts.held);
    return memory;
}

void* counted_or_throw(std::size_t size) {
    void* memory = counted(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void release(void* memory) noexcept {
    counts.held -= static_cast<std::int64_t>(malloc_usable_size(memory));
    std::free(memory);  // NOLINT
}

}  // namespace

// All forms but those with an alignment. By the standard most of them would end up in the first,
// but a sanitizer brings its own of each.
void* operator new(std::size_t size) { return counted_or_throw(size); }
void* operator new[](std::size_t size) { return counted_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return counted(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return counted(size);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { release(memory); }

namespace ballast::testing {

AllocationWatch::AllocationWatch() { counts = {}; }

std::size_t AllocationWatch::largest() const { return counts.largest; }

std::size_t AllocationWatch::peak() const { return static_cast<std::size_t>(counts.peak); }

}  // namespace ballast::testing
