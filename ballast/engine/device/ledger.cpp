#include "ballast/engine/device/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ballast::device {

std::string_view to_string(Tag tag) {
    switch (tag) {
        case Tag::weights: return "weights";
        case Tag::backup: return "backup";
        case Tag::ring: return "ring";
        case Tag::widened: return "widened";
        case Tag::scratch: return "scratch";
        case Tag::staging: return "staging";
        case Tag::activations: return "activations";
        case Tag::results: return "results";
        case Tag::simulation: return "simulation";
    }
    return "scratch";
}

Reservation::Reservation(Reservation&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      device_(other.device_),
      tag_(other.tag_),
      bytes_(std::exchange(other.bytes_, Bytes{})) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
    if (this == &other) return *this;
    release();
    ledger_ = std::exchange(other.ledger_, nullptr);
    device_ = other.device_;
    tag_ = other.tag_;
    bytes_ = std::exchange(other.bytes_, Bytes{});
    return *this;
}

Reservation::~Reservation() { release(); }

void Reservation::release() {
    if (ledger_ != nullptr) ledger_->give_back(device_, bytes_, tag_);
    ledger_ = nullptr;
    bytes_ = Bytes{};
}

namespace {

/// What simulated devices hold is not the machine's that is simulated: it is told, but no part of
/// sums and limits.
bool is_counted(Tag tag) { return tag != Tag::simulation; }

}  // namespace

struct Ledger::State {
    mutable std::mutex mutex;
    LedgerSnapshot devices;
};

Ledger::Ledger() : state_(std::make_unique<State>()) {}
Ledger::~Ledger() = default;

bool Ledger::try_take(DeviceId device, Bytes bytes, Tag tag) noexcept {
    const std::scoped_lock lock(state_->mutex);
    auto& use = state_->devices[device];
    if (is_counted(tag)) {
        const auto wanted = use.now + bytes;
        if (use.limit && wanted > *use.limit) return false;
        use.now = wanted;
        use.peak = std::max(use.peak, wanted);
    }
    auto& tagged = use.by_tag[static_cast<std::size_t>(tag)];
    tagged.now += bytes;
    tagged.peak = std::max(tagged.peak, tagged.now);
    return true;
}

void Ledger::give_back(DeviceId device, Bytes bytes, Tag tag) noexcept {
    const std::scoped_lock lock(state_->mutex);
    auto& use = state_->devices[device];
    if (is_counted(tag)) use.now = use.now.minus_or_zero(bytes);
    auto& tagged = use.by_tag[static_cast<std::size_t>(tag)];
    tagged.now = tagged.now.minus_or_zero(bytes);
}

Result<Reservation> Ledger::reserve(DeviceId device, Bytes bytes, Tag tag) {
    if (!try_take(device, bytes, tag)) return fail(refusal(device, bytes, tag));
    return Reservation(this, device, tag, bytes);
}

Error Ledger::refusal(DeviceId device, Bytes bytes, Tag tag) const {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->devices.find(device);
    const DeviceUse use = found == state_->devices.end() ? DeviceUse{} : found->second;
    const auto limit = use.limit.value_or(use.now);
    const Shortfall shortfall{.needed = bytes.count(),
                              .available = limit.minus_or_zero(use.now).count()};

    std::vector<std::pair<Bytes, std::string_view>> holders;
    for (std::size_t i = 0; i < kTags; ++i)
        if (!use.by_tag[i].now.is_zero() && is_counted(static_cast<Tag>(i)))
            holders.emplace_back(use.by_tag[i].now, to_string(static_cast<Tag>(i)));
    std::sort(holders.begin(), holders.end(), std::greater<>{});
    std::string held;
    for (const auto& [held_bytes, name] : holders)
        held += fmt::format("{}{} {}", held.empty() ? "; held: " : ", ",
                            ballast::to_string(held_bytes), name);

    const auto alone = tag == Tag::weights ? " for the weights alone" : "";
    return Error{
        .code = Code::does_not_fit,
        .what = fmt::format("no room for {} on {}", to_string(tag), ballast::to_string(device)),
        .why = fmt::format(
            "needed {}, available {} of the limit {}, missing {}{}", ballast::to_string(bytes),
            ballast::to_string(Bytes{shortfall.available}), ballast::to_string(limit),
            ballast::to_string(Bytes{shortfall.missing()}), held),
        .hint = fmt::format("raise the limit with --memory-limit {}={} or more{}, or use less",
                            ballast::to_string(device), limit.count() + shortfall.missing(), alone),
        .shortfall = {{device, shortfall}}};
}

std::optional<Bytes> Ledger::set_limit(DeviceId device, std::optional<Bytes> limit) {
    const std::scoped_lock lock(state_->mutex);
    return std::exchange(state_->devices[device].limit, limit);
}

LedgerSnapshot Ledger::snapshot() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->devices;
}

void Ledger::reset_peaks() {
    const std::scoped_lock lock(state_->mutex);
    for (auto& [device, use] : state_->devices) {
        use.peak = use.now;
        for (auto& tagged : use.by_tag) tagged.peak = tagged.now;
    }
}

}  // namespace ballast::device
