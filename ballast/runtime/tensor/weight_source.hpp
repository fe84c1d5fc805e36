#pragma once
// Pinned blocks as tensors of the compute type: the only way in which networks see weights.

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "ballast/engine/device/device.hpp"
#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime {

/// Memory into which stored weights are widened (fp16 to fp32 on a CPU) while a layer uses them.
/// One buffer per compute device, reserved once and reused: memory that is fresh costs several
/// times more than memory that is warm. Slots are handed out and returned in stack order by one
/// thread.
class WideningBuffer {
public:
    /// On the device where arithmetic runs; for a simulated one that is the host.
    explicit WideningBuffer(device::Ledger& ledger,
                            std::shared_ptr<device::Device> device = device::make_host_device(),
                            device::Tag tag = device::Tag::widened);
    WideningBuffer(const WideningBuffer&) = delete;
    WideningBuffer& operator=(const WideningBuffer&) = delete;
    ~WideningBuffer();

    class [[nodiscard]] Slot {
    public:
        Slot() = default;
        Slot(Slot&& other) noexcept;
        Slot& operator=(Slot&& other) noexcept;
        ~Slot();
        [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

    private:
        friend class WideningBuffer;
        Slot(WideningBuffer* buffer, std::size_t chunk, std::size_t former_top,
             std::span<std::byte> bytes)
            : buffer_(buffer), chunk_(chunk), former_top_(former_top), bytes_(bytes) {}
        WideningBuffer* buffer_ = nullptr;
        std::size_t chunk_ = 0;
        std::size_t former_top_ = 0;
        std::span<std::byte> bytes_;
    };

    /// `bytes` bytes aligned to 64. Grows when needed, at the expense of memory that activations
    /// keep for reuse; throws `Failure` (`out_of_memory`) when the device's limit forbids it.
    Slot take(std::size_t bytes);

    /// Gives all memory back; no slot may be out.
    void clear();

    [[nodiscard]] const device::Device& device() const { return *device_; }

private:
    [[nodiscard]] device::Reservation reserve(Bytes bytes) const;

    struct Chunk;
    device::Ledger* ledger_;
    std::shared_ptr<device::Device> device_;
    device::Tag tag_;
    std::vector<Chunk> chunks_;
};

/// The parameters of one layer on the compute device, in the compute type, for as long as it lives.
class [[nodiscard]] PinnedLayer {
public:
    /// Parameter `index` in the order of the block's tensors; undefined if there is none.
    [[nodiscard]] const at::Tensor& operator[](std::size_t index) const { return tensors_[index]; }

private:
    friend class WeightSource;
    explicit PinnedLayer(weights::Pin pin) : pin_(std::move(pin)) {}

    weights::Pin pin_;
    WideningBuffer::Slot slot_;
    std::vector<at::Tensor> tensors_;
};

/// Follows a pass over a model: for clocks of simulated devices.
class PassListener {
public:
    PassListener() = default;
    PassListener(const PassListener&) = delete;
    PassListener& operator=(const PassListener&) = delete;
    virtual ~PassListener() = default;
    /// The block's weights are there, its arithmetic begins.
    virtual void on_block(plan::BlockId id) = 0;
};

/// One model's weights in one compute type. Cheap to make; used by one thread.
class WeightSource {
public:
    /// `widening` is on the device for which the store's plan is made. `listener` may be null; else
    /// it must outlive the source.
    WeightSource(std::shared_ptr<const weights::WeightStore> store, at::ScalarType compute_type,
                 WideningBuffer& widening, PassListener* listener = nullptr)
        : store_(std::move(store)),
          compute_type_(compute_type),
          widening_(&widening),
          listener_(listener) {}

    [[nodiscard]] at::ScalarType compute_type() const { return compute_type_; }
    /// Where the tensors lie.
    [[nodiscard]] at::Device device() const;
    [[nodiscard]] const plan::BlockTable& table() const { return store_->table(); }

    /// Floating-point parameters come in the compute type, integers as stored. Stored bytes are
    /// used in place when they have the compute type already. Before a block that lives elsewhere
    /// takes the place of another one, it waits for arithmetic that may still read that one.
    PinnedLayer pin(plan::BlockId id) const;

    /// Rows `ids` (int64, any shape [..], on any device) of the block's `tensor`-th tensor [n,
    /// width] in the compute type, [.., width]: looked up as stored, then widened, so that a large
    /// embedding table is never converted.
    at::Tensor rows(plan::BlockId id, std::size_t tensor, const at::Tensor& ids) const;

private:
    [[nodiscard]] weights::Pin pinned(plan::BlockId id) const;
    [[nodiscard]] at::Tensor stored(const weights::Pin& pin, std::size_t tensor) const;

    std::shared_ptr<const weights::WeightStore> store_;
    at::ScalarType compute_type_;
    WideningBuffer* widening_;
    PassListener* listener_;
};

}  // namespace ballast::runtime
