#pragma once
// Memory outside of tensors, in the same account as theirs: pixels of pictures, lists that a
// workflow can make as long as it likes.

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "ballast/runtime/tensor/host_allocator.hpp"

namespace ballast::runtime {

/// For containers: what they hold counts as activations and obeys the limit. Throws `Failure`
/// (`out_of_memory`) when that refuses.
template <typename T>
struct AccountedAllocator {
    using value_type = T;

    AccountedAllocator() = default;
    template <typename U>
    AccountedAllocator(const AccountedAllocator<U>&) {}  // implicit, as containers want it

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
            throw std::bad_array_new_length();
        return static_cast<T*>(take_host_memory(count * sizeof(T)));
    }
    void deallocate(T* data, std::size_t) noexcept { give_host_memory_back(data); }

    template <typename U>
    bool operator==(const AccountedAllocator<U>&) const {
        return true;
    }
};

template <typename T>
using AccountedVector = std::vector<T, AccountedAllocator<T>>;

}  // namespace ballast::runtime
