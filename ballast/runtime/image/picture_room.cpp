#include <fmt/format.h>

#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"

namespace ballast::runtime::image {

void require_room(std::size_t width, std::size_t height, std::size_t channels, Bytes more) {
    constexpr std::size_t kColours = 3;
    const auto values = kColours + (channels > kColours ? 1 : 0);  // with alpha, a mask
    const auto pixels = std::uint64_t{width} * height;
    try {
        require_host_memory(Bytes{pixels * (channels + values * sizeof(float))} + more);
    } catch (const Failure& failure) {
        auto error = failure.error();
        error.code = Code::does_not_fit;
        error.what = fmt::format("a picture of {} x {} pixels does not fit", width, height);
        throw Failure(std::move(error));
    }
}

}  // namespace ballast::runtime::image
