#include "ballast/runtime/text/embedding_file.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/types.hpp"

namespace ballast::runtime::text {

namespace {

constexpr Bytes kLargest{64U << 20U};

Error refusal(Code code, const std::filesystem::path& path, std::string_view tensor,
              std::string why) {
    Error error;
    error.code = code;
    error.what = "cannot read the embedding";
    error.why = std::move(why);
    error.place.file = path.string();
    error.place.key = tensor;
    error.hint =
        "use a textual inversion made for this kind of model, or take it out of the prompt";
    return error;
}

/// The tensor with the vectors: by its name, or because it is the only one. Files of other kinds
/// (an autoencoder in the wrong folder) have many, and none of these names.
const formats::TensorEntry* embedding_of(const formats::TensorDirectory& directory,
                                         std::string_view key) {
    for (const std::string_view name : {key, std::string_view("emb_params")})
        if (const auto* entry = directory.find(name)) return entry;
    for (const auto& entry : directory.entries())
        if (entry.name.starts_with("string_to_param")) return &entry;
    if (const auto* entry = directory.find("clip_g")) return entry;
    return directory.entries().size() == 1 ? &directory.entries().front() : nullptr;
}

EmbeddingRows rows_of(const formats::File& file, const formats::TensorEntry& entry) {
    const auto stored_type = scalar_type(entry.type);
    if (!at::isFloatingType(stored_type))
        throw Failure(refusal(Code::foreign_file, file.path(), entry.name,
                              fmt::format("{} holds no real numbers", to_string(entry.type))));
    std::vector<std::byte> stored(entry.bytes.count());
    value_or_throw(file.read_at(entry.offset, stored));
    const auto values = view_of(std::span<const std::byte>(stored), stored_type, entry.shape)
                            .to(at::kFloat)
                            .contiguous();
    const auto* first = values.const_data_ptr<float>();
    return {.width = static_cast<std::size_t>(entry.shape.back()),
            .values = {first, first + values.numel()}};
}

}  // namespace

Result<EmbeddingRows> read_embedding(const std::filesystem::path& path, std::string_view key) {
    return guarded("cannot read the embedding", [&]() -> EmbeddingRows {
        const auto directory = value_or_throw(formats::open_tensors(path));
        const auto* entry = embedding_of(directory, key);
        if (entry == nullptr && directory.entries().empty())
            throw Failure(refusal(Code::foreign_file, path, key, "the file holds no tensor"));
        if (entry == nullptr)
            throw Failure(refusal(Code::foreign_file, path, directory.entries().front().name,
                                  fmt::format("it holds {} tensors, and none is named as those of "
                                              "embeddings are",
                                              directory.entries().size())));
        const auto axes = entry->shape.size();
        if (axes == 0 || axes > 2 || entry->elements() == 0)
            throw Failure(refusal(Code::foreign_file, path, entry->name,
                                  "the shape is neither [rows, width] nor [width]"));
        if (entry->bytes > kLargest)
            throw Failure(refusal(Code::unsupported, path, entry->name,
                                  fmt::format("{} is more than an embedding can hold ({})",
                                              to_string(entry->bytes), to_string(kLargest))));
        return rows_of(value_or_throw(formats::File::open(path)), *entry);
    });
}

}  // namespace ballast::runtime::text
