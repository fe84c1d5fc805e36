#include "ballast/engine/formats/io/reader.hpp"

#include <cstring>
#include <utility>

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/io/mapping.hpp"

namespace ballast::formats {
namespace {

class PositionedReader final : public Reader {
public:
    explicit PositionedReader(File file) : file_(std::move(file)) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        return file_.read_at(offset, destination);
    }

private:
    File file_;
};

class MapReader final : public Reader {
public:
    MapReader(File file, std::shared_ptr<const Mapping> map)
        : file_(std::move(file)), map_(std::move(map)) {}

    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        // a cut file is an error here, not the signal that touching the map would raise
        if (auto inside = file_.check_range(offset, destination.size()); !inside) return inside;
        if (destination.empty()) return {};
        map_->expect_use(offset, destination.size());
        const auto source = map_->bytes().subspan(offset, destination.size());
        std::memcpy(destination.data(), source.data(), source.size());
        return {};
    }

private:
    File file_;
    std::shared_ptr<const Mapping> map_;
};

}  // namespace

std::string_view to_string(ReaderKind kind) {
    return kind == ReaderKind::positioned ? "positioned" : "map";
}

Result<std::shared_ptr<const Reader>> open_reader(const std::filesystem::path& path,
                                                  ReaderKind kind) {
    auto file = File::open(path);
    if (!file) return fail(std::move(file).error());
    if (kind == ReaderKind::positioned)
        return std::shared_ptr<const Reader>(std::make_shared<PositionedReader>(*std::move(file)));
    auto map = Mapping::map(*file);
    if (!map) return fail(std::move(map).error());
    return std::shared_ptr<const Reader>(
        std::make_shared<MapReader>(*std::move(file), *std::move(map)));
}

}  // namespace ballast::formats
