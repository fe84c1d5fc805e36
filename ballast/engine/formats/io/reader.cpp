#include <cstring>

#include "ballast/engine/formats/io/file.hpp"

namespace ballast::formats {
namespace {

class PositionedReader final : public Reader {
public:
    explicit PositionedReader(File file) : file_(std::move(file)) {}
    [[nodiscard]] Bytes size() const override { return file_.size(); }
    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        return file_.read_at(offset, destination);
    }

private:
    File file_;
};

class MapReader final : public Reader {
public:
    MapReader(std::filesystem::path path, std::shared_ptr<const Mapping> map)
        : path_(std::move(path)), map_(std::move(map)) {}
    [[nodiscard]] Bytes size() const override { return Bytes{map_->bytes().size()}; }
    Result<void> read(std::uint64_t offset, std::span<std::byte> destination) const override {
        const auto bytes = map_->bytes();
        if (offset > bytes.size() || destination.size() > bytes.size() - offset) {
            return fail(Error{.code = Code::corrupt_file,
                              .what = "cannot read the file",
                              .why = "it ends before the bytes that were asked for",
                              .place = {.file = path_.string(), .offset = offset},
                              .hint = "the file was cut or replaced; fetch it again"});
        }
        std::memcpy(destination.data(), bytes.data() + offset, destination.size());
        return {};
    }

private:
    std::filesystem::path path_;
    std::shared_ptr<const Mapping> map_;
};

}  // namespace

Result<std::shared_ptr<const Reader>> open_reader(const std::filesystem::path& path,
                                                  ReaderKind kind) {
    auto file = File::open(path);
    if (!file) return fail(std::move(file).error());
    if (kind == ReaderKind::positioned)
        return std::shared_ptr<const Reader>(std::make_shared<PositionedReader>(*std::move(file)));
    auto map = Mapping::map(*file);
    if (!map) return fail(std::move(map).error());
    return std::shared_ptr<const Reader>(std::make_shared<MapReader>(path, *std::move(map)));
}

}  // namespace ballast::formats
