#include "ballast/engine/device/host/mapped_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace ballast::device {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

}  // namespace

std::byte* map_memory(std::size_t size) {
    // not MAP_NORESERVE: that would promise memory that may not be there
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
    // fewer faults when it is filled, and it goes as fast as it came: a refusal changes nothing
    if (size >= kHugePage) static_cast<void>(::madvise(memory, size, MADV_HUGEPAGE));
#endif
    return static_cast<std::byte*>(memory);
}

void unmap_memory(std::byte* data, std::size_t size) noexcept { ::munmap(data, size); }

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace ballast::device
