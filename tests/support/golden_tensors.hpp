#pragma once
// Tensors of the golden files: what the reference computed.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/types.hpp"

namespace ballast::testing {

/// A safetensors file of which single tensors are read. Throws `Failure` for whatever goes wrong,
/// a name that is not there among it.
class GoldenTensors {
public:
    explicit GoldenTensors(const std::filesystem::path& path)
        : directory_(runtime::value_or_throw(formats::open_tensors(path))),
          file_(runtime::value_or_throw(formats::File::open(path))) {}

    [[nodiscard]] const formats::TensorDirectory& directory() const { return directory_; }

    /// A copy of the tensor in the file's own type and shape.
    [[nodiscard]] at::Tensor operator[](std::string_view name) const {
        const auto* entry = directory_.find(name);
        if (entry == nullptr) {
            Error error;
            error.code = Code::not_found;
            error.what = "no such golden tensor";
            error.place.file = file_.path().string();
            error.place.key = name;
            throw runtime::Failure(std::move(error));
        }
        std::vector<std::byte> bytes(entry->bytes.count());
        runtime::value_or_throw(file_.read_at(entry->offset, bytes));
        return runtime::view_of(std::span<const std::byte>(bytes),
                                runtime::scalar_type(entry->type), entry->shape)
            .clone();
    }

private:
    formats::TensorDirectory directory_;
    formats::File file_;
};

}  // namespace ballast::testing
