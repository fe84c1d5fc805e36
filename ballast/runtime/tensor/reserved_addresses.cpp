#include "ballast/runtime/tensor/reserved_addresses.hpp"

#include <sys/mman.h>

#include <new>

namespace ballast::runtime {

ReservedAddresses::ReservedAddresses(std::size_t size) : size_(size) {
    void* begin =
        ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(begin);
}

ReservedAddresses::~ReservedAddresses() {
    if (begin_ != nullptr) ::munmap(begin_, size_);
}

}  // namespace ballast::runtime
