#include "ballast/engine/plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ballast/engine/plan/quotas.hpp"

namespace ballast::plan {
namespace {

/// What one listed device may take, and what it has left of that.
struct Room {
    DeviceId device{};
    WideBytes bytes = 0;
    WideBytes left = 0;
};

WideBytes minus_or_zero(WideBytes a, WideBytes b) { return a > b ? a - b : 0; }

std::string amount(WideBytes bytes) {
    const auto shown = to_bytes(bytes);
    return fmt::format("{} bytes ({})", shown.count(), to_string(shown));
}

class Placer {
public:
    explicit Placer(const PlacementRequest& request)
        : request_(request), policy_(request.policy), blocks_(request.blocks) {
        made_.homes.assign(blocks_.size(), policy_.compute);
        made_.pinned = pinned_blocks(blocks_, request.role);
        made_.remainder = remainder_of(policy_);
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            total_ += blocks_[i].bytes.count();
            if (made_.pinned[i] != Pinned::no) pinned_ += blocks_[i].bytes.count();
        }
    }

    Placement make() {
        if (policy_.mode == Mode::ratio && !policy_.rest) {
            split();
        } else {
            set_quotas();
            charge_pinned();
            walk();
        }
        add_up();
        return std::move(made_);
    }

private:
    void set_quotas();
    void charge_pinned();
    void walk();
    void split();
    std::vector<Wide> widths();
    void add_up();
    void warn_of_excess(DeviceId device, WideBytes assigned);

    const PlacementRequest& request_;
    const Policy& policy_;
    const std::vector<PlacementBlock>& blocks_;
    WideBytes total_ = 0;   ///< S of the specification
    WideBytes pinned_ = 0;  ///< P
    std::vector<Room> quotas_;
    Placement made_;
};

void Placer::set_quotas() {
    for (const auto& [device, bytes] : quotas_of(policy_, total_, request_.devices)) {
        quotas_.push_back({.device = device, .bytes = bytes});
        if (policy_.mode == Mode::fraction && !total_of(request_.devices, device))
            made_.warnings.push_back(fmt::format(
                "{}: its memory is unknown, so a fraction of it holds nothing", to_string(device)));
    }
}

void Placer::charge_pinned() {
    for (auto& quota : quotas_) {
        if (quota.device == policy_.compute) {
            if (pinned_ > quota.bytes && quota.device != made_.remainder)
                made_.warnings.push_back(
                    fmt::format("{}: pinned blocks take {}, more than its quota of {}",
                                to_string(quota.device), amount(pinned_), amount(quota.bytes)));
            quota.left = minus_or_zero(quota.bytes, pinned_);
        } else {
            quota.left = quota.bytes;
        }
        // what takes the remainder is compared with all that was asked for
        const auto shown = quota.device == made_.remainder ? quota.bytes : quota.left;
        made_.quotas[quota.device] = to_bytes(shown);
    }
}

void Placer::walk() {
    const auto remainder = made_.remainder.value_or(policy_.compute);
    std::erase_if(quotas_, [=](const auto& quota) { return quota.device == remainder; });
    WideBytes left_over = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (made_.pinned[i] != Pinned::no) continue;
        const auto size = blocks_[i].bytes.count();
        const auto home = std::find_if(quotas_.begin(), quotas_.end(),
                                       [size](const auto& quota) { return quota.left >= size; });
        if (home != quotas_.end()) {
            home->left -= size;
            made_.homes[i] = home->device;
        } else {
            left_over += size;
            made_.homes[i] = remainder;
        }
    }
    made_.left_over = to_bytes(left_over);
}

/// The width of each entry's piece, in units of a byte divided by the sum of all shares.
std::vector<Wide> Placer::widths() {
    unsigned scale = 0;
    for (const auto& entry : policy_.entries) scale = std::max(scale, entry.number.scale());
    Wide shares;
    for (const auto& entry : policy_.entries) shares += entry.number.at_scale(scale);
    std::vector<Wide> found;
    for (const auto& entry : policy_.entries) {
        auto width = entry.number.at_scale(scale) * Wide{total_};
        if (entry.device == policy_.compute) {
            const auto held = shares * Wide{pinned_};
            if (held > width)
                made_.warnings.push_back(fmt::format(
                    "{}: pinned blocks take {}, more than its share of {}", to_string(entry.device),
                    amount(pinned_), amount((width / shares).to_wide_bytes())));
            width = width > held ? width - held : Wide{};
        }
        found.push_back(width);
    }
    return found;
}

void Placer::split() {
    /// A device, and twice the offset up to which middles of blocks are its own.
    struct Piece {
        DeviceId device{};
        WideBytes twice_end = 0;
    };
    const auto found = widths();
    Wide sum;
    for (const auto& width : found) sum += width;
    const Wide twice{2 * (total_ - pinned_)};
    std::vector<Piece> pieces;
    Wide reached;
    WideBytes begin = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto device = policy_.entries[i].device;
        made_.quotas[device] = Bytes{};
        if (found[i].is_zero()) continue;
        reached += found[i];
        const auto end = (twice * reached / sum).to_wide_bytes();
        made_.quotas[device] = to_bytes(end / 2 - begin / 2);
        pieces.push_back({.device = device, .twice_end = end});
        begin = end;
    }
    // without any width there are no bytes to place, only blocks of none
    if (pieces.empty()) return;
    std::size_t at = 0;
    WideBytes offset = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (made_.pinned[i] != Pinned::no) continue;
        const WideBytes size = blocks_[i].bytes.count();
        while (at + 1 < pieces.size() && 2 * offset + size > pieces[at].twice_end) ++at;
        made_.homes[i] = pieces[at].device;
        offset += size;
    }
}

void Placer::add_up() {
    std::map<DeviceId, WideBytes> sums;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        sums[made_.homes[i]] += blocks_[i].bytes.count();
    for (const auto& [device, bytes] : sums) {
        made_.per_device[device] = to_bytes(bytes);
        warn_of_excess(device, bytes);
    }
}

void Placer::warn_of_excess(DeviceId device, WideBytes assigned) {
    const auto name = to_string(device);
    if (device == made_.remainder && policy_.mode != Mode::automatic) {
        const auto given = made_.quotas.find(device);
        const auto asked = policy_.advisory              ? policy_.advisory
                           : given != made_.quotas.end() ? std::optional(given->second)
                                                         : std::nullopt;
        if (asked && assigned > asked->count())
            made_.warnings.push_back(fmt::format("{}: quota {}, assigned {}", name,
                                                 amount(asked->count()), amount(assigned)));
        const bool is_implied = !policy_.rest && policy_.mode != Mode::virtual_vram && !asked;
        if (is_implied && !made_.left_over.is_zero())
            made_.warnings.push_back(fmt::format(
                "{}: takes {} that no entry has room for, since there is no rest marker", name,
                amount(made_.left_over.count())));
    }
    const auto memory = total_of(request_.devices, device);
    if (memory && assigned > memory->count())
        made_.warnings.push_back(fmt::format("{}: assigned {}, memory {}", name, amount(assigned),
                                             amount(memory->count())));
}

}  // namespace

std::string_view to_string(Pinned pinned) {
    switch (pinned) {
        case Pinned::no: return "";
        case Pinned::tiny: return "tiny";
        case Pinned::not_fetchable: return "not fetchable";
        case Pinned::head: return "head";
        case Pinned::loose: return "loose";
    }
    return "";
}

bool is_head_name(std::string_view name) {
    std::string lower(name);
    for (auto& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    // "embed" covers token_embedding and position_embedding
    constexpr std::array<std::string_view, 3> kParts{"embed", "wte", "wpe"};
    return std::any_of(kParts.begin(), kParts.end(),
                       [&](auto part) { return lower.find(part) != std::string::npos; });
}

std::vector<Pinned> pinned_blocks(const std::vector<PlacementBlock>& blocks, ModelRole role) {
    WideBytes total = 0;
    for (const auto& block : blocks) total += block.bytes.count();
    std::vector<Pinned> pinned;
    pinned.reserve(blocks.size());
    for (const auto& block : blocks) {
        auto reason = Pinned::no;
        if (static_cast<WideBytes>(block.bytes.count()) * 10'000 < total) reason = Pinned::tiny;
        if (!block.is_fetchable) reason = Pinned::not_fetchable;
        if (role == ModelRole::text_encoder && is_head_name(block.name)) reason = Pinned::head;
        if (block.is_loose) reason = Pinned::loose;
        pinned.push_back(reason);
    }
    return pinned;
}

Placement place(const PlacementRequest& request) { return Placer(request).make(); }

}  // namespace ballast::plan
