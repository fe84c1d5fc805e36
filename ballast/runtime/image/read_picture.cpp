#include "ballast/runtime/image/read_picture.hpp"

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/tensor/accounted.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::image {

Result<Picture> read_picture(const std::filesystem::path& path) {
    auto picture = guarded("cannot read the picture", [&path] {
        const auto file = value_or_throw(formats::File::open(path));
        constexpr Bytes kLargest{1U << 30U};
        if (file.size() > kLargest) {
            Error error;
            error.code = Code::unsupported;
            error.what = "cannot read the picture";
            error.why = to_string(file.size()) + " are more than " + to_string(kLargest);
            throw Failure(std::move(error));
        }
        AccountedVector<std::byte> bytes(file.size().count());
        value_or_throw(file.read_at(0, bytes));
        return decode_picture(bytes);
    });
    if (!picture && picture.error().place.file.empty()) picture.error().place.file = path.string();
    return picture;
}

}  // namespace ballast::runtime::image
