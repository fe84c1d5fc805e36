#pragma once
// Running a network without its numbers: tensors of which only shape and size exist, and the layers
// that networks are made of, which count arithmetic and memory.
//
// A traced tensor is counted while it lives, as the runtime's tensors are, so that a trace that is
// written like the network holds at each block what the network holds there.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/plan/wide.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::models {

/// Sizes of a batch of pictures; a text is a picture one cell wide, its tokens one above the other.
struct Extent {
    std::uint64_t rows = 1;
    std::uint64_t channels = 1;
    std::uint64_t height = 1;
    std::uint64_t width = 1;

    /// Cells of all rows.
    [[nodiscard]] plan::WideBytes positions() const {
        return static_cast<plan::WideBytes>(rows) * height * width;
    }
    [[nodiscard]] plan::WideBytes elements() const { return positions() * channels; }
};

/// A size of a configuration, which has checked it to be positive.
constexpr std::uint64_t size(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Bytes that are held now, and the most since somebody asked.
class ActivationAccount {
public:
    void take(plan::WideBytes bytes) {
        held_ += bytes;
        if (held_ > most_) most_ = held_;
    }
    void give_back(plan::WideBytes bytes) { held_ -= bytes; }
    /// The most since the last call.
    plan::WideBytes take_most() {
        const auto most = most_;
        most_ = held_;
        return most;
    }

private:
    plan::WideBytes held_ = 0;
    plan::WideBytes most_ = 0;
};

/// A tensor without numbers. Copies share its memory, as those of a real one. Must not outlive its
/// tracer.
class TracedTensor {
public:
    TracedTensor() = default;  ///< nothing, as an undefined tensor

    [[nodiscard]] const Extent& extent() const { return extent_; }
    [[nodiscard]] std::uint64_t channels() const { return extent_.channels; }
    /// The first `channels` channels; the same memory.
    [[nodiscard]] TracedTensor narrowed(std::uint64_t channels) const {
        auto part = *this;
        part.extent_.channels = channels;
        return part;
    }

private:
    friend class Tracer;
    struct Memory {
        Memory(ActivationAccount& where, plan::WideBytes amount) : account(where), bytes(amount) {
            account.take(bytes);
        }
        Memory(const Memory&) = delete;
        Memory& operator=(const Memory&) = delete;
        ~Memory() { account.give_back(bytes); }

        ActivationAccount& account;
        plan::WideBytes bytes;
    };

    Extent extent_;
    std::shared_ptr<Memory> memory_;
};

/// How a convolution moves over its input.
struct ConvolutionWindow {
    std::uint64_t size = 3;  ///< cells along each axis
    std::uint64_t stride = 1;
    std::uint64_t padding = 1;  ///< on each side
};

/// The layers. Those with weights are named by their block; each counts for it what is held from
/// the end of the block before it to its own end.
class Tracer {
public:
    /// Keeps a reference on the table. `element_bytes` is the size of an activation.
    Tracer(const plan::BlockTable& table, std::int64_t element_bytes);
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;
    ~Tracer() = default;

    /// A tensor in the type of activations.
    TracedTensor tensor(const Extent& extent) { return tensor(extent, element_bytes_); }
    TracedTensor tensor(const Extent& extent, std::uint64_t element_bytes);
    /// A tensor in fp32, as everything is that comes from outside or goes there.
    TracedTensor fp32(const Extent& extent) { return tensor(extent, 4); }
    /// `x` in the type of activations, or in fp32: no copy if these are one.
    TracedTensor from_fp32(const TracedTensor& x);
    TracedTensor to_fp32(const TracedTensor& x);

    /// 2 * out * in * size^2 for each position of the output. Libraries bring the weights into an
    /// order of their own, or with few positions the input's windows into rows; either is counted.
    TracedTensor convolution(std::string_view block, const TracedTensor& x, std::uint64_t out,
                             const ConvolutionWindow& window = {});
    /// At every position, so 1x1 convolutions as well: 2 * out * in for each.
    TracedTensor linear(std::string_view block, const TracedTensor& x, std::uint64_t out);
    /// GroupNorm or LayerNorm, with the activation function behind it: 8 for each element.
    TracedTensor norm(std::string_view block, const TracedTensor& x);
    /// Rows of a table of the block, one for each position of `extent`: no arithmetic.
    TracedTensor lookup(std::string_view block, const Extent& extent);

    /// Scores and weighted values, 2 * (2 * channels) for each pair of positions of a row. In
    /// tiles, so that of the scores only one sum for each head and position of q is held (fp32).
    /// The tiles themselves, half a megabyte for each thread of a processor, are not counted.
    TracedTensor attention(const TracedTensor& q, const TracedTensor& k, const TracedTensor& v,
                           std::uint64_t heads);
    /// Both, one channel after the other.
    TracedTensor joined(const TracedTensor& a, const TracedTensor& b);
    /// `x` in another size.
    TracedTensor resized(const TracedTensor& x, std::uint64_t height, std::uint64_t width);

    /// The costs of all blocks; those that no layer named cost nothing. What is held after the last
    /// block counts for it. Fails with `Code::bad_value` if the table has not all blocks that were
    /// named: it is of another model.
    Result<StepCosts> costs();

private:
    void end_block(std::string_view name, plan::WideBytes flops);

    const plan::BlockTable& table_;
    std::uint64_t element_bytes_;
    ActivationAccount account_;
    StepCosts costs_;
    plan::WideBytes pending_flops_ = 0;  ///< of attention, for the next block
    std::size_t last_ = 0;               ///< the block that ended last
    std::string missing_;
};

}  // namespace ballast::models
