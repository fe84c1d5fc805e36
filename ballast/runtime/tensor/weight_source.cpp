#include "ballast/runtime/tensor/weight_source.hpp"

#include <utility>

#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "ballast/runtime/tensor/torch_device.hpp"
#include "ballast/runtime/tensor/types.hpp"

namespace ballast::runtime {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t aligned(std::size_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

struct WideningBuffer::Chunk {
    device::Reservation reservation;
    device::Memory memory;
    std::size_t used = 0;
};

WideningBuffer::WideningBuffer(device::Ledger& ledger, std::shared_ptr<device::Device> device,
                               device::Tag tag)
    : ledger_(&ledger), device_(std::move(device)), tag_(tag) {}

WideningBuffer::~WideningBuffer() = default;

WideningBuffer::Slot WideningBuffer::take(std::size_t bytes) {
    const auto size = aligned(bytes);
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        auto& chunk = chunks_[i];
        if (chunk.memory.size() - chunk.used < size) continue;
        const auto top = chunk.used;
        chunk.used += size;
        return Slot(this, i, top, {chunk.memory.data() + top, bytes});
    }
    // an idle chunk that turned out too small only wastes memory: replace it
    if (!chunks_.empty() && chunks_.back().used == 0) chunks_.pop_back();
    Chunk chunk;
    chunk.reservation = reserve(Bytes{size});
    chunk.memory = value_or_throw(device_->allocate(Bytes{size}));
    chunk.used = size;
    chunks_.push_back(std::move(chunk));
    return Slot(this, chunks_.size() - 1, 0, {chunks_.back().memory.data(), bytes});
}

device::Reservation WideningBuffer::reserve(Bytes bytes) const {
    const auto where = device_->id();
    auto room = ledger_->reserve(where, bytes, tag_);
    if (!room && where == kCpu && !trim_host_memory().is_zero())
        room = ledger_->reserve(where, bytes, tag_);
    if (room) return *std::move(room);
    auto error = std::move(room).error();
    error.code = Code::out_of_memory;  // the model was loaded: this happens while it runs
    error.hint = "use a smaller picture or batch, or raise the limit (--memory-limit " +
                 to_string(where) + "=SIZE)";
    throw Failure(std::move(error));
}

void WideningBuffer::clear() { chunks_.clear(); }

WideningBuffer::Slot::Slot(Slot&& other) noexcept
    : buffer_(std::exchange(other.buffer_, nullptr)),
      chunk_(other.chunk_),
      former_top_(other.former_top_),
      bytes_(other.bytes_) {}

WideningBuffer::Slot& WideningBuffer::Slot::operator=(Slot&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(chunk_, other.chunk_);
    std::swap(former_top_, other.former_top_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

WideningBuffer::Slot::~Slot() {
    if (buffer_ != nullptr) buffer_->chunks_[chunk_].used = former_top_;
}

at::Device WeightSource::device() const { return tensor_device(widening_->device()); }

weights::Pin WeightSource::pinned(plan::BlockId id) const {
    const auto& plan = store_->plan();
    const auto home = plan.homes[id.index];
    if (home != plan.compute && !plan.read_in_place.contains(home))
        finish_arithmetic(widening_->device());
    auto pin = value_or_throw(store_->pin(id));
    if (listener_ != nullptr) listener_->on_block(id);
    return pin;
}

at::Tensor WeightSource::stored(const weights::Pin& pin, std::size_t tensor) const {
    const auto& entry = pin.block().tensors[tensor];
    return view_on(widening_->device(), pin.bytes(tensor), scalar_type(entry.type), entry.shape);
}

PinnedLayer WeightSource::pin(plan::BlockId id) const {
    PinnedLayer layer(pinned(id));
    const auto count = layer.pin_.block().tensors.size();

    std::vector<at::Tensor> tensors;
    tensors.reserve(count);
    std::size_t widened = 0;
    const auto size = [](const at::Tensor& t, at::ScalarType type) {
        return aligned(static_cast<std::size_t>(t.numel()) * c10::elementSize(type));
    };
    const auto needs_widening = [this](const at::Tensor& t) {
        return t.is_floating_point() && t.scalar_type() != compute_type_;
    };
    for (std::size_t i = 0; i < count; ++i) {
        tensors.push_back(stored(layer.pin_, i));
        if (needs_widening(tensors.back())) widened += size(tensors.back(), compute_type_);
    }
    if (widened == 0) {
        layer.tensors_ = std::move(tensors);
        return layer;
    }

    layer.slot_ = widening_->take(widened);
    std::size_t at = 0;
    for (const auto& tensor : tensors) {
        if (!needs_widening(tensor)) {
            layer.tensors_.push_back(tensor);
            continue;
        }
        auto wide = view_on(widening_->device(), layer.slot_.bytes().subspan(at), compute_type_,
                            tensor.sizes());
        wide.copy_(tensor);
        at += size(tensor, compute_type_);
        layer.tensors_.push_back(std::move(wide));
    }
    return layer;
}

at::Tensor WeightSource::rows(plan::BlockId id, std::size_t tensor, const at::Tensor& ids) const {
    const auto pin = pinned(id);
    const auto table = stored(pin, tensor);
    auto shape = ids.sizes().vec();
    shape.push_back(table.size(1));
    const auto rows = ids.reshape({-1}).to(table.device());
    return ops::index_select(table, 0, rows).to(compute_type_).reshape(shape);
}

}  // namespace ballast::runtime
