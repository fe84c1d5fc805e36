#pragma once
// Memory that the host may not touch.
//
// The addresses that it hands out are reserved, but nothing lies there: reading or writing one ends
// the program. The bytes lie elsewhere, at a fixed distance, which only the fake knows. Memory that
// is new or was given back holds no numbers (all bits set is NaN in every floating type).

#include <cstddef>
#include <map>
#include <mutex>

#include "ballast/runtime/tensor/reserved_addresses.hpp"

namespace ballast::testing::far {

class FarMemory {
public:
    explicit FarMemory(std::size_t capacity);
    ~FarMemory();
    FarMemory(const FarMemory&) = delete;
    FarMemory& operator=(const FarMemory&) = delete;

    /// Null if there is no room. `size` is not 0.
    std::byte* allocate(std::size_t size);
    void give_back(std::byte* address);

    [[nodiscard]] bool holds(const void* address) const;
    /// Where the bytes of `address` really lie. Throws if they were given back.
    [[nodiscard]] std::byte* reveal(const void* address) const;

    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t used() const;

private:
    std::size_t capacity_;
    runtime::ReservedAddresses addresses_;
    std::byte* bytes_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::size_t> gaps_;   // offset -> size
    std::map<std::size_t, std::size_t> taken_;  // offset -> size
    std::size_t used_ = 0;
};

}  // namespace ballast::testing::far
