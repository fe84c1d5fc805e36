#include "ballast/models/component.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ballast/engine/plan/natural_order.hpp"

namespace ballast::models {
namespace {

/// Far beyond any layer, small enough that products of a few sizes do not overflow.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 20;

bool is_floating(ElementType type) {
    switch (type) {
        case ElementType::f8_e4m3:
        case ElementType::f8_e5m2:
        case ElementType::f16:
        case ElementType::bf16:
        case ElementType::f32:
        case ElementType::f64: return true;
        default: return false;
    }
}

bool has_shape(const formats::TensorEntry& entry, const Parameter& parameter) {
    if (entry.shape == parameter.shape) return true;
    if (parameter.kind != Parameter::Kind::matrix) return false;
    auto convolution = parameter.shape;
    convolution.insert(convolution.end(), {1, 1});
    return entry.shape == convolution;
}

std::string usual_hint(Code code) {
    switch (code) {
        case Code::corrupt_file:
            return "the file is damaged or was written wrongly: fetch it again, or convert it anew";
        case Code::unsupported: return "use a Stable Diffusion 1.x file of the published layout";
        default: return {};
    }
}

plan::BlockTensor stored(const formats::TensorEntry& entry, std::string name) {
    return {std::move(name), entry.type, entry.shape, entry.offset, entry.bytes};
}

}  // namespace

std::string to_string(std::span<const std::int64_t> shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

const formats::TensorEntry* Component::find(std::string_view name) const {
    return directory_->find(prefix_ + std::string(name));
}

int Component::count(std::string_view before, std::string_view after) const {
    int n = 0;
    while (has(fmt::format("{}{}{}", before, n, after))) ++n;
    return n;
}

Result<std::int64_t> Component::size(std::string_view name, std::size_t axes,
                                     std::size_t axis) const {
    const auto* entry = find(name);
    if (entry == nullptr) return fail(error(Code::corrupt_file, name, "the tensor is missing"));
    if (entry->shape.size() != axes)
        return fail(
            error(Code::corrupt_file, name,
                  fmt::format("shape {}, expected {} axes", to_string(entry->shape), axes)));
    const auto size = entry->shape[axis];
    if (size < 1 || size > kLargestSize)
        return fail(error(Code::corrupt_file, name,
                          fmt::format("shape {}, which no layer has", to_string(entry->shape))));
    return size;
}

Error Component::error(Code code, std::string_view name, std::string why, std::string hint) const {
    Error error;
    error.code = code;
    error.what = fmt::format("cannot use the {}", what_);
    error.why = std::move(why);
    error.hint = hint.empty() ? usual_hint(code) : std::move(hint);
    error.place.file = directory_->path().string();
    if (!name.empty()) error.place.key = prefix_ + std::string(name);
    return error;
}

Result<plan::BlockTable> Component::blocks(const std::vector<Parameter>& expected,
                                           std::span<const std::string_view> complete) const {
    std::vector<plan::BlockTensor> tensors;
    std::set<std::string_view> known;
    tensors.reserve(expected.size());
    for (const auto& parameter : expected) {
        const auto* entry = find(parameter.name);
        if (entry == nullptr)
            return fail(error(Code::corrupt_file, parameter.name,
                              fmt::format("the tensor is missing; expected shape {}",
                                          to_string(parameter.shape))));
        if (!has_shape(*entry, parameter))
            return fail(error(Code::corrupt_file, parameter.name,
                              fmt::format("shape {}, expected {}", to_string(entry->shape),
                                          to_string(parameter.shape))));
        const bool wants_integer = parameter.kind == Parameter::Kind::integer;
        if (wants_integer ? entry->type != ElementType::i32 : !is_floating(entry->type))
            return fail(error(Code::unsupported, parameter.name,
                              fmt::format("stored as {}, expected {}", to_string(entry->type),
                                          wants_integer ? "I32" : "a floating-point format"),
                              wants_integer ? "" : "use a file in fp16, bf16 or fp32"));
        known.insert(entry->name);
        tensors.push_back(stored(*entry, parameter.name));
    }
    for (const auto& entry : directory_->entries()) {
        if (!entry.name.starts_with(prefix_) || known.contains(entry.name)) continue;
        const auto name = std::string_view(entry.name).substr(prefix_.size());
        const auto is_within = [name](std::string_view part) { return name.starts_with(part); };
        if (std::ranges::any_of(complete, is_within))
            return fail(error(Code::unsupported, name,
                              "a network of this configuration has no such tensor"));
    }
    return plan::group_into_blocks(tensors);
}

plan::BlockTable blocks_of_file(const formats::TensorDirectory& directory) {
    std::vector<plan::BlockTensor> tensors;
    tensors.reserve(directory.entries().size());
    for (const auto& entry : directory.entries()) tensors.push_back(stored(entry, entry.name));
    std::ranges::sort(tensors, plan::natural_less, &plan::BlockTensor::name);
    return plan::group_into_blocks(tensors);
}

std::optional<std::string> find_prefix(const formats::TensorDirectory& directory,
                                       std::span<const std::string_view> prefixes,
                                       std::string_view telltale) {
    for (const auto prefix : prefixes)
        if (directory.find(fmt::format("{}{}", prefix, telltale)) != nullptr)
            return std::string(prefix);
    return std::nullopt;
}

}  // namespace ballast::models
