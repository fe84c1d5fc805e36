#pragma once
// Which loader opens a file that this one cannot use.

#include <string_view>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::graph {

/// `error` (a part that `node_class` loads is not in the file) with what the file holds instead,
/// and the loaders for that; never `node_class` itself.
Error with_suitable_loader(Error error, const formats::TensorDirectory& directory,
                           std::string_view node_class);

}  // namespace ballast::graph
