#pragma once
// What one step of a model costs, block by block, by shape rules: no weights are read and nothing
// is computed.
//
// Every family gives its costs in this form (its table of parts, e.g. models::sd::kParts), so that
// planning needs no knowledge of networks. The rules follow the runtime's arithmetic layer by layer
// and tensor by tensor; a test holds them against what the runtime allocates.

#include <cstdint>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/result.hpp"
#include "ballast/engine/plan/cost_model.hpp"

namespace ballast::models {

/// What is to be made, as far as costs depend on it. Each part of a model takes from it what
/// concerns it: the network calls of `batch` times `sides` rows, the text encoder the windows of
/// one prompt, the autoencoder one picture after the other.
struct StepShape {
    std::int64_t batch = 1;          ///< pictures
    std::int64_t height = 64;        ///< of a latent, in cells
    std::int64_t width = 64;         ///< likewise
    std::int64_t tokens = 77;        ///< of the text of one picture
    std::int64_t sides = 1;          ///< of guidance in one call: 2 with the unconditional one
    std::int64_t element_bytes = 4;  ///< of an activation

    bool operator==(const StepShape&) const = default;
};

/// Fails with `Code::bad_value`, naming the member, where a size is not positive or beyond any
/// picture: 2^16 cells, 2^30 pictures, 2^20 tokens, 2 sides, 8 bytes.
Result<void> check(const StepShape& shape);

struct BlockCost {
    /// A multiplication with its addition counts as two. Products of attention count for the block
    /// behind them. Saturates.
    std::uint64_t flops = 0;
    /// Held at once while the block computes: its input and output, whatever later blocks still
    /// need, the context, and what the arithmetic needs in between. Saturates.
    Bytes activation_bytes{};

    bool operator==(const BlockCost&) const = default;
};

struct StepCosts {
    std::vector<BlockCost> blocks{};  ///< one per block of the table, in its order
    Bytes peak_activation_bytes{};    ///< the largest of all blocks

    /// The sum over all blocks; saturates.
    [[nodiscard]] std::uint64_t flops() const;
    bool operator==(const StepCosts&) const = default;
};

/// Gives the blocks, which are those of the same table, their costs.
void set_costs(std::vector<plan::PlanBlock>& blocks, const StepCosts& costs);

}  // namespace ballast::models
