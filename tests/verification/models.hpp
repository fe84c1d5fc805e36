#pragma once
// The three models of every cell: real files with known bytes, a thousandth of the size of those
// that a picture takes.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/residency/registry.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verification/axes.hpp"

namespace ballast::verification {

struct Model {
    residency::ModelSource source{};
    std::vector<std::byte> content{};  ///< of the whole file

    /// Pins each block and compares it with the file. What is wrong with the first that differs or
    /// cannot be had; empty: nothing.
    [[nodiscard]] std::optional<std::string> difference(const weights::WeightStore& store) const;
};

/// Owns the files. Not movable, since sources count their reads here.
class Models {
public:
    Models();

    [[nodiscard]] const Model& operator[](std::size_t index) const { return models_[index]; }
    /// Bytes read from all files so far.
    [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_.load(); }

private:
    testing::TemporaryFolder folder_;
    std::array<Model, kModels> models_{};
    mutable std::atomic<std::uint64_t> bytes_read_{0};
};

}  // namespace ballast::verification
