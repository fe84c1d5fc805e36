#pragma once
// Addresses without memory: a name for each byte of something that has none of its own.

#include <cstddef>
#include <utility>

namespace ballast::runtime {

/// A range of addresses that nothing else in the process has, and that nobody can touch.
class ReservedAddresses {
public:
    ReservedAddresses() = default;
    /// Throws `std::bad_alloc` when there is none of that size.
    explicit ReservedAddresses(std::size_t size);
    ReservedAddresses(ReservedAddresses&& other) noexcept
        : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    ReservedAddresses& operator=(ReservedAddresses&& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~ReservedAddresses();

    [[nodiscard]] std::byte* begin() const { return begin_; }

private:
    std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace ballast::runtime
