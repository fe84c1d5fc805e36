#include "ballast/engine/plan/distribution_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ballast/engine/core/utf8.hpp"
#include "ballast/engine/plan/quotas.hpp"
#include "ballast/engine/plan/rounded.hpp"

namespace ballast::plan {
namespace {

constexpr std::string_view kPrefix = "[MultiGPU DisTorch V2] ";
constexpr WideBytes kGiB = WideBytes{1} << 30U;
constexpr WideBytes kMiB = WideBytes{1} << 20U;
constexpr std::size_t kLongestType = 18;

std::string gib(WideBytes bytes) { return rounded(bytes, kGiB, 2); }
std::string mib(WideBytes bytes) { return rounded(bytes, kMiB, 2); }
std::string percent(WideBytes part, WideBytes whole) { return rounded(part * 100, whole, 1) + "%"; }

/// `a` - `b` in GiB, with its sign where it is negative.
std::string gib_difference(WideBytes a, WideBytes b) {
    return a < b ? "-" + gib(b - a) : gib(a - b);
}

/// At most so many characters of a text that may come from a file.
std::string cut(std::string_view text, std::size_t most) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < most && end < text.size(); ++i)
        end += first_code_point(text.substr(end)).length;
    return escaped(text.substr(0, end));
}

struct RowOrder {
    bool operator()(DeviceId a, DeviceId b) const { return key(a) < key(b); }

private:
    static std::pair<int, std::string> key(DeviceId id) {
        const int group = id.kind == DeviceKind::disk ? 2 : id == kCpu ? 1 : 0;
        return {group, to_string(id)};
    }
};

template <typename T>
using ByDevice = std::map<DeviceId, T, RowOrder>;

/// So many blocks, so many bytes.
struct Share {
    std::size_t layers = 0;
    WideBytes bytes = 0;

    void add(const PlanBlock& block) {
        ++layers;
        bytes += block.bytes.count();
    }
};

WideBytes size_of(const DistributedModel& model) {
    WideBytes sum = 0;
    for (const auto& block : model.blocks) sum += block.bytes.count();
    return sum;
}

/// What each device may take of the model; present devices without a grant are in it, too.
ByDevice<WideBytes> grants_of(const DistributedModel& model, WideBytes size) {
    ByDevice<WideBytes> grants;
    for (const auto& device : model.devices) grants[device.id] = 0;
    if (model.policy.mode == Mode::automatic) {
        for (std::size_t i = 0; i < model.homes.size(); ++i)
            grants[model.homes[i]] += model.blocks[i].bytes.count();
        return grants;
    }
    WideBytes left = size;
    for (const auto& [device, bytes] : quotas_of(model.policy, size, model.devices)) {
        const auto granted = std::min(bytes, left);
        grants[device] += granted;
        left -= granted;
    }
    if (const auto rest = remainder_of(model.policy)) grants[*rest] += left;
    return grants;
}

class TableWriter {
public:
    explicit TableWriter(const DistributedModel& model)
        : model_(model), size_(size_of(model)), grants_(grants_of(model, size_)) {}

    std::vector<std::string> write() {
        if (model_.policy.mode == Mode::virtual_vram) write_virtual_memory();
        write_grants();
        write_layer_types();
        write_homes();
        return std::move(lines_);
    }

private:
    void rule(std::size_t width, char c = '-') { lines_.emplace_back(width, c); }
    void line(std::string_view text) { lines_.emplace_back(text); }

    void write_virtual_memory();
    void add_virtual_row(DeviceId device, std::string_view role);
    void write_grants();
    void write_layer_types();
    void write_homes();
    void write_shares_title(std::string_view title, std::string_view first_column);
    void add_share_row(std::string_view name, const Share& share);

    const DistributedModel& model_;
    WideBytes size_;
    ByDevice<WideBytes> grants_;
    std::vector<std::string> lines_;
};

constexpr auto kVirtualRow = "{:<8} {:<6} {:>11} {:>9} {:>9}";
constexpr std::size_t kVirtualWidth = 47;
constexpr std::size_t kWidth = 50;

void TableWriter::write_virtual_memory() {
    rule(kVirtualWidth, '=');
    line("    DisTorch2 Model Virtual VRAM Analysis");
    rule(kVirtualWidth, '=');
    line("Object   Role   Original(GB) Total(GB)  Virt(GB)");
    rule(kVirtualWidth);
    add_virtual_row(model_.compute, "recip");
    for (const auto donor : model_.policy.donors) add_virtual_row(donor, "donor");
    rule(kVirtualWidth);
    // a model cannot free more than it has
    const auto moved = std::min<WideBytes>(model_.policy.virtual_bytes.count(), size_);
    lines_.push_back(fmt::format(kVirtualRow, "model", "model", gib(size_) + "GB",
                                 gib(size_ - moved) + "GB", "-" + gib(moved) + "GB"));
}

void TableWriter::add_virtual_row(DeviceId device, std::string_view role) {
    const auto memory = total_of(model_.devices, device);
    std::string total = "-";
    std::string with_virtual = "-";
    std::string moved;
    if (memory) total = gib(memory->count()) + "GB";
    if (device == model_.compute) {
        const auto freed = std::min<WideBytes>(model_.policy.virtual_bytes.count(), size_);
        moved = "+" + gib(freed);
        if (memory) with_virtual = gib(memory->count() + freed) + "GB";
    } else {
        const auto stored = grants_.at(device);
        moved = "-" + gib(stored);
        if (memory) with_virtual = gib_difference(memory->count(), stored) + "GB";
    }
    lines_.push_back(
        fmt::format(kVirtualRow, to_string(device), role, total, with_virtual, moved + "GB"));
}

void TableWriter::write_grants() {
    rule(kWidth, '=');
    line("    DisTorch2 Model Device Allocations");
    rule(kWidth, '=');
    constexpr auto kRow = "{:<8}{:>9}{:>9}{:>11}{:>10}";
    lines_.push_back(fmt::format(kRow, "Device", "VRAM GB", "Dev %", "Model GB", "Dist %"));
    rule(kWidth);
    WideBytes sum = 0;
    for (const auto& [device, bytes] : grants_) sum += bytes;
    for (const auto& [device, bytes] : grants_) {
        const auto memory = total_of(model_.devices, device);
        lines_.push_back(fmt::format(kRow, to_string(device), memory ? gib(memory->count()) : "-",
                                     memory ? percent(bytes, memory->count()) : "-", gib(bytes),
                                     percent(bytes, sum)));
    }
    rule(kWidth);
}

constexpr auto kShareRow = "{:<18}{:>7}{:>14}{:>10}";

void TableWriter::write_shares_title(std::string_view title, std::string_view first_column) {
    line(title);
    rule(kWidth);
    lines_.push_back(fmt::format(kShareRow, first_column, "Layers", "Memory (MB)", "% Total"));
    rule(kWidth);
}

void TableWriter::add_share_row(std::string_view name, const Share& share) {
    lines_.push_back(
        fmt::format(kShareRow, name, share.layers, mib(share.bytes), percent(share.bytes, size_)));
}

void TableWriter::write_layer_types() {
    write_shares_title("    DisTorch2 Model Layer Distribution", "Layer Type");
    constexpr std::string_view kUnknown = "Unknown";
    std::vector<std::pair<std::string_view, Share>> types;
    std::map<std::string_view, std::size_t> position;
    for (const auto& block : model_.blocks) {
        const auto type = block.type.empty() ? kUnknown : std::string_view{block.type};
        const auto [place, is_new] = position.try_emplace(type, types.size());
        if (is_new) types.emplace_back(type, Share{});
        types[place->second].second.add(block);
    }
    for (const auto& [type, share] : types) add_share_row(cut(type, kLongestType), share);
    rule(kWidth);
}

void TableWriter::write_homes() {
    write_shares_title("DisTorch2 Model Final Device/Layer Assignments", "Device");
    Share tiny;
    ByDevice<Share> others;
    for (std::size_t i = 0; i < model_.blocks.size(); ++i) {
        const auto& block = model_.blocks[i];
        const bool is_tiny = WideBytes{block.bytes.count()} * 10'000 < size_;
        (is_tiny && model_.homes[i] == model_.compute ? tiny : others[model_.homes[i]]).add(block);
    }
    if (tiny.layers != 0) add_share_row(to_string(model_.compute) + " (<0.01%)", tiny);
    for (const auto& [device, share] : others) add_share_row(to_string(device), share);
    rule(kWidth);
}

}  // namespace

std::vector<std::string> distribution_tables(const DistributedModel& model) {
    return TableWriter(model).write();
}

std::vector<std::string> distribution_warnings(const DistributedModel& model) {
    const auto& policy = model.policy;
    const auto memory = total_of(model.devices, model.compute);
    const auto size = size_of(model);
    if (policy.mode != Mode::virtual_vram || !memory) return {};
    const WideBytes nine_times = WideBytes{memory->count()} * 9;
    if (size * 10 <= nine_times) return {};
    const auto tenth_gib = kGiB * 10;
    return {fmt::format(
        "{}the model takes {} GiB, more than nine tenths of the memory of {} ({} GiB); it needs {} "
        "GiB of virtual VRAM or more, and has {}",
        kPrefix, gib(size), to_string(model.compute), rounded(nine_times, tenth_gib, 2),
        rounded(size * 10 - nine_times, tenth_gib, 2), gib(policy.virtual_bytes.count()))};
}

std::vector<std::string> allocation_lines(std::string_view allocation) {
    return {fmt::format("{}Final Allocation String:", kPrefix), std::string(allocation)};
}

std::vector<std::string> loaded_lines(Bytes model) {
    return {fmt::format("{}DisTorch loading completed.", kPrefix),
            fmt::format("{}Total memory: {}MB", kPrefix, mib(model.count()))};
}

}  // namespace ballast::plan
