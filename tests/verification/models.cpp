#include "tests/verification/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "ballast/engine/formats/io/reader.hpp"

namespace ballast::verification {
namespace {

/// Blocks of one model: so many, of about that many bytes.
struct Size {
    std::uint32_t blocks;
    std::uint64_t bytes;
};
constexpr std::array<Size, kModels> kSizes{{{12, 408'000}, {6, 262'000}, {4, 84'000}}};

class CountingReader final : public formats::Reader {
public:
    CountingReader(std::shared_ptr<const formats::Reader> file, std::atomic<std::uint64_t>& bytes)
        : file_(std::move(file)), bytes_(&bytes) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        *bytes_ += destination.size();
        return file_->read(offset, destination);
    }

private:
    std::shared_ptr<const formats::Reader> file_;
    std::atomic<std::uint64_t>* bytes_;
};

plan::BlockTensor tensor(std::string name, std::uint64_t& offset, std::uint64_t size) {
    plan::BlockTensor made{.name = std::move(name),
                           .type = ElementType::u8,
                           .shape = {static_cast<std::int64_t>(size)},
                           .offset = offset,
                           .bytes = Bytes{size}};
    offset += size;
    return made;
}

/// No two blocks are equally long, and no length is a round one.
plan::BlockTable table_of(const Size& size) {
    std::vector<plan::BlockTensor> tensors;
    std::uint64_t offset = 0;
    for (std::uint32_t i = 0; i < size.blocks; ++i) {
        tensors.push_back(
            tensor(fmt::format("layers.{}.weight", i), offset, size.bytes + i * 1'021));
        tensors.push_back(tensor(fmt::format("layers.{}.bias", i), offset, 513 + i));
    }
    return plan::group_into_blocks(tensors);
}

/// The same on every machine, other for each seed, and without a short period.
std::vector<std::byte> noise(std::uint64_t size, std::uint64_t seed) {
    std::vector<std::byte> bytes(size);
    auto state = seed * 2 + 1;
    for (auto& byte : bytes) {
        state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        byte = static_cast<std::byte>(state >> 56U);
    }
    return bytes;
}

}  // namespace

Models::Models() {
    for (std::size_t m = 0; m < kModels; ++m) {
        auto& [source, content] = models_[m];
        source.name = kModelNames[m];
        source.table = table_of(kSizes[m]);
        source.least_segment = Bytes{weights::kLeastSegment.count() / 1024};
        content = noise(source.table.bytes().count(), m);
        std::string text(content.size(), '\0');
        std::memcpy(text.data(), content.data(), content.size());
        const auto path = folder_.write(fmt::format("{}.weights", kModelNames[m]), text);
        auto key = residency::model_key(path, {});
        if (!key) throw std::runtime_error(to_string(key.error()));
        source.key = *std::move(key);
        source.open = [this, path]() -> Result<std::shared_ptr<const formats::Reader>> {
            auto file = formats::open_reader(path, formats::ReaderKind::positioned);
            if (!file) return fail(std::move(file).error());
            return std::make_shared<const CountingReader>(*std::move(file), bytes_read_);
        };
    }
}

std::optional<std::string> Model::difference(const weights::WeightStore& store) const {
    const auto& blocks = store.table().blocks();
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        const auto pin = store.pin({b});
        if (!pin) return fmt::format("{}: {}", blocks[b].name, to_string(pin.error()));
        for (std::size_t t = 0; t < blocks[b].tensors.size(); ++t) {
            const auto bytes = pin->bytes(t);
            const auto offset = static_cast<std::ptrdiff_t>(blocks[b].tensors[t].offset);
            if (!std::equal(bytes.begin(), bytes.end(), content.begin() + offset))
                return fmt::format("{} has other bytes than its file", blocks[b].tensors[t].name);
        }
    }
    return std::nullopt;
}

}  // namespace ballast::verification
