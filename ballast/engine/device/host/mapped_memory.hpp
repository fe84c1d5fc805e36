#pragma once
// Anonymous memory from the system, page by page.

#include <cstddef>

namespace ballast::device {

/// `size` bytes, not 0, or null if the system refuses. The system is asked to refuse here what it
/// cannot give, not to end the process when a page is touched.
std::byte* map_memory(std::size_t size);
void unmap_memory(std::byte* data, std::size_t size) noexcept;

/// A page of the system.
std::size_t page_size();

}  // namespace ballast::device
