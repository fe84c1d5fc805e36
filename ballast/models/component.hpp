#pragma once
// One component of a file (network, text encoder, autoencoder): the tensors below one prefix, and
// the comparison with what a configuration says they should be.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"

namespace ballast::models {

/// A parameter that a network of known configuration has.
struct Parameter {
    /// `matrix` is a 1x1 convolution or a linear layer: [out, in] and [out, in, 1, 1] are both
    /// accepted, since files of both kinds exist.
    enum class Kind { floating, matrix, integer };

    std::string name;                 ///< inside the component, without the file's prefix
    std::vector<std::int64_t> shape;  ///< outermost first
    Kind kind = Kind::floating;
};

/// "[320, 4, 3, 3]".
std::string to_string(std::span<const std::int64_t> shape);

/// The tensors of a directory whose names begin with a prefix. Keeps a reference on the directory.
class Component {
public:
    Component(const formats::TensorDirectory& directory, std::string prefix, std::string what)
        : directory_(&directory), prefix_(std::move(prefix)), what_(std::move(what)) {}

    [[nodiscard]] const std::string& prefix() const { return prefix_; }
    [[nodiscard]] const formats::TensorDirectory& directory() const { return *directory_; }
    [[nodiscard]] const formats::TensorEntry* find(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    /// How many of `before` + 0 + `after`, `before` + 1 + `after`, ... exist without a gap.
    [[nodiscard]] int count(std::string_view before, std::string_view after) const;

    /// Size of axis `axis` of tensor `name`, for deriving a configuration. Fails when the tensor is
    /// missing, has another number of axes than `axes`, or a size outside 1..2^20.
    [[nodiscard]] Result<std::int64_t> size(std::string_view name, std::size_t axes,
                                            std::size_t axis) const;

    /// Blocks of `expected`, which are in model order. Fails with `corrupt_file` or `unsupported`,
    /// naming the tensor and the expected shape, when one is missing, has another shape, or is
    /// stored in a format that cannot hold it; or when the component has a tensor below one of
    /// `complete` ("encoder.") that nothing expects, since ignoring it would give a wrong picture.
    [[nodiscard]] Result<plan::BlockTable> blocks(const std::vector<Parameter>& expected,
                                                  std::span<const std::string_view> complete) const;

    /// An error about tensor `name` of this component. Without a `hint` it has the usual remedy of
    /// `corrupt_file` or `unsupported`.
    [[nodiscard]] Error error(Code code, std::string_view name, std::string why,
                              std::string hint = {}) const;

private:
    const formats::TensorDirectory* directory_;
    std::string prefix_;
    std::string what_;  ///< "diffusion network", for messages
};

/// Blocks of everything in a file, names in their natural order: the model order of families that
/// nobody knows.
plan::BlockTable blocks_of_file(const formats::TensorDirectory& directory);

/// The first of `prefixes` under which a tensor named `telltale` exists.
std::optional<std::string> find_prefix(const formats::TensorDirectory& directory,
                                       std::span<const std::string_view> prefixes,
                                       std::string_view telltale);

}  // namespace ballast::models
