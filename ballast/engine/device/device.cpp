#include "ballast/engine/device/device.hpp"

#include <fmt/format.h>

#include <utility>

namespace ballast::device {

Memory::Memory(Memory&& other) noexcept
    : owner_(std::move(other.owner_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Memory::~Memory() {
    if (data_ != nullptr) owner_->give_back(data_, size_);
}

std::optional<Error> impossible_copy(const Device& device, const Target& to, const Source& from) {
    const auto refusal = [&](std::string why) {
        return Error{.code = Code::internal,
                     .what = fmt::format("cannot copy from {} to {}", to_string(from.device),
                                         to_string(to.device)),
                     .why = std::move(why),
                     .hint = "report this as a fault of Ballast"};
    };
    if (to.bytes.size() != from.bytes.size())
        return refusal(
            fmt::format("{} bytes do not go into {}", from.bytes.size(), to.bytes.size()));
    const auto self = device.id();
    if (to.device != self && from.device != self)
        return refusal(fmt::format("the stream belongs to {}", to_string(self)));
    if (to.device != self && to.device != kCpu)
        return refusal(fmt::format("streams of {} do not write there", to_string(self)));
    if (!device.reaches(from.device))
        return refusal(fmt::format("{} does not reach that device", to_string(self)));
    return std::nullopt;
}

}  // namespace ballast::device
