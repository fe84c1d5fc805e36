#include "ballast/engine/device/host/mapped_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace ballast::device {

std::byte* map_memory(std::size_t size) {
    // not MAP_NORESERVE: that would promise memory that may not be there
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void unmap_memory(std::byte* data, std::size_t size) noexcept { ::munmap(data, size); }

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace ballast::device
