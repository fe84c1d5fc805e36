#pragma once
// A weight file that exists only in a test, and tensors in it.

#include <atomic>
#include <cstdint>
#include <string>

#include "ballast/engine/formats/io/reader.hpp"
#include "ballast/engine/plan/block_table.hpp"

namespace ballast::weights {

/// A file that exists only here: byte i is i * 7 mod 251.
class PatternReader final : public formats::Reader {
public:
    explicit PatternReader(std::uint64_t fails_from = ~std::uint64_t{0})
        : fails_from_(fails_from) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        ++reads;
        if (offset + destination.size() > fails_from_)
            return fail(Error{.code = Code::io, .what = "cannot read", .why = "broken disk"});
        for (std::size_t i = 0; i < destination.size(); ++i) destination[i] = at(offset + i);
        return {};
    }

    static std::byte at(std::uint64_t offset) { return static_cast<std::byte>(offset * 7 % 251); }

    mutable std::atomic<int> reads{0};

private:
    std::uint64_t fails_from_;
};

inline plan::BlockTensor bytes_at(std::string name, std::uint64_t offset, std::uint64_t size) {
    return {.name = std::move(name),
            .type = ElementType::u8,
            .shape = {static_cast<std::int64_t>(size)},
            .offset = offset,
            .bytes = Bytes{size}};
}

}  // namespace ballast::weights
