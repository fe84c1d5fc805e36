// Stands for the accounted memory of the runtime, which needs libtorch: plain memory without a
// limit, so that the decoders alone are under test.

#include <cstdlib>
#include <new>

#include "ballast/runtime/tensor/host_allocator.hpp"

namespace ballast::runtime {

void* take_host_memory(std::size_t size) {
    void* memory = std::malloc(size > 0 ? size : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void give_host_memory_back(void* data) noexcept { std::free(data); }

void require_host_memory(Bytes) {}

}  // namespace ballast::runtime
