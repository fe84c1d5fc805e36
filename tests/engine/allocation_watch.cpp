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

}  // namespace

// The other forms of new and delete, but for those with an alignment, end up here.
void* operator new(std::size_t size) {
    void* memory = std::malloc(std::max<std::size_t>(size, 1));  // NOLINT
    if (memory == nullptr) throw std::bad_alloc();
    counts.largest = std::max(counts.largest, size);
    counts.held += static_cast<std::int64_t>(malloc_usable_size(memory));
    counts.peak = std::max(counts.peak, counts.held);
    return memory;
}

void operator delete(void* memory) noexcept {
    counts.held -= static_cast<std::int64_t>(malloc_usable_size(memory));
    std::free(memory);  // NOLINT
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }

namespace ballast::testing {

AllocationWatch::AllocationWatch() { counts = {}; }

std::size_t AllocationWatch::largest() const { return counts.largest; }

std::size_t AllocationWatch::peak() const { return static_cast<std::size_t>(counts.peak); }

}  // namespace ballast::testing
