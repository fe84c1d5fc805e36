#include "ballast/cli/plan_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "ballast/cli/svg.hpp"
#include "ballast/engine/plan/wide.hpp"

namespace ballast::cli {
namespace {

using plan::WideBytes;
using svg::Length;
using svg::px;

/// What a part of a bar stands for; also the names of their classes and of their legend.
enum class Part { earlier, weights, pool, ring, activations, free, missing };

struct PartName {
    Part part;
    std::string_view style;
    std::string_view words;
};
constexpr std::array<PartName, 7> kParts{{
    {Part::earlier, "earlier", "models above"},
    {Part::weights, "weights", "weights"},
    {Part::pool, "pool", "devices of its pool"},
    {Part::ring, "ring", "blocks on their way"},
    {Part::activations, "activations", "activations"},
    {Part::free, "free", "free"},
    {Part::missing, "missing", "missing"},
}};

const PartName& name_of(Part part) { return kParts[static_cast<std::size_t>(part)]; }

/// Colours of middle lightness, which stand out from white and from black paper alike.
constexpr std::string_view kStyle = R"(text { font: 12px system-ui, sans-serif; fill: #737d87 }
.title { font-size: 17px; font-weight: 600 }
.model { font-size: 14px; font-weight: 600 }
.name { font-weight: 600 }
.small { font-size: 11px }
.left { text-anchor: end }
.tick { font-size: 10px; text-anchor: middle }
.grid { stroke: #8b949e; stroke-opacity: .25 }
.cut { stroke: #8b949e; stroke-width: 1.5 }
.weights { fill: #4a8bd6 }
.ring { fill: #d99a2b }
.activations { fill: #43a565 }
.earlier { fill: #8b949e }
.pool { fill: #9a7bd0 }
.free { fill: #8b949e; fill-opacity: .16; stroke: #8b949e; stroke-opacity: .5 }
.missing { fill: #dc4b46 }
text.alarm { fill: #dc4b46; font-weight: 600 }
)";

// The columns and rows of the picture, in pixels.
constexpr Length kWidth = px(900);
constexpr Length kMargin = px(24);
constexpr Length kBarLeft = px(132);
constexpr Length kBarWidth = px(520);
constexpr Length kNotesLeft = kBarLeft + kBarWidth + px(16);
constexpr Length kHeadHeight = px(82);
constexpr Length kModelHeight = px(50);
constexpr Length kRowHeight = px(46);
constexpr Length kBarHeight = px(18);
constexpr Length kModelGap = px(18);
constexpr Length kFootHeight = px(20);

constexpr std::size_t kLongestName = 96;  ///< characters
constexpr std::size_t kLongestRequest = 110;

struct Piece {
    Part part;
    WideBytes bytes;
};

/// A device under one plan.
struct Row {
    DeviceId device{};
    bool computes = false;
    std::vector<Piece> pieces;          ///< what it would hold, without nothings
    std::optional<WideBytes> capacity;  ///< empty: no limit
    std::optional<Bytes> total{};

    [[nodiscard]] WideBytes used() const {
        WideBytes sum = 0;
        for (const auto& piece : pieces) sum += piece.bytes;
        return sum;
    }
    [[nodiscard]] WideBytes missing() const {
        return capacity && used() > *capacity ? used() - *capacity : 0;
    }
};

Bytes weights_on(const plan::Plan& plan, DeviceId id) {
    const auto held = plan.per_device.find(id);
    return held == plan.per_device.end() ? Bytes{} : held->second;
}

/// Weights of other devices whose memory is that of `id`.
Bytes pool_on(const ChartModel& model, DeviceId id) {
    Bytes sum;
    for (const auto& other : model.request.machine.devices)
        if (other.pool == id) sum += weights_on(model.plan, other.id);
    return sum;
}

Row row_of(const ChartModel& model, DeviceId id, Bytes earlier) {
    const auto& plan = model.plan;
    const bool computes = id == plan.compute;
    Row row{.device = id, .computes = computes, .pieces = {}, .capacity = {}};
    const auto add = [&](Part part, Bytes bytes) {
        if (!bytes.is_zero()) row.pieces.push_back({part, bytes.count()});
    };
    add(Part::earlier, earlier);
    add(Part::weights, weights_on(plan, id));
    add(Part::pool, pool_on(model, id));
    if (computes) add(Part::ring, plan.ring);
    if (computes) add(Part::activations, plan.activations);
    if (const auto* device = model.request.machine.find(id)) {
        row.capacity = WideBytes{earlier.count()} + device->capacity.count();
        row.total = device->total;
    } else if (id.kind != DeviceKind::disk || !model.request.is_file_backed) {
        row.capacity = 0;  // it is not there
    }
    return row;
}

/// A row for each device of the machine, and for what else the plan names.
std::vector<Row> rows_of(const ChartModel& first, const ChartModel& model) {
    std::vector<Row> rows;
    std::set<DeviceId> shown;
    for (const auto& device : model.request.machine.devices) {
        const auto* before = first.request.machine.find(device.id);
        const auto room = before != nullptr ? before->capacity : device.capacity;
        rows.push_back(row_of(model, device.id, room.minus_or_zero(device.capacity)));
        shown.insert(device.id);
    }
    for (const auto& [id, bytes] : model.plan.per_device)
        if (shown.insert(id).second) rows.push_back(row_of(model, id, {}));
    return rows;
}

std::string size(WideBytes bytes) { return to_string(plan::to_bytes(bytes)); }

class Chart {
public:
    explicit Chart(std::span<const ChartModel> models) : models_(models) {
        for (const auto& model : models) rows_.push_back(rows_of(models.front(), model));
        set_scale();
    }

    std::string draw() {
        draw_head();
        y_ = kHeadHeight;
        for (std::size_t i = 0; i < models_.size(); ++i) {
            draw_model(models_[i], rows_[i]);
            y_ += kModelGap;
        }
        draw_tick_labels(y_);
        return canvas_.document(kWidth, y_ + kFootHeight, "Plan of memory", kStyle);
    }

private:
    void set_scale();
    void draw_head();
    [[nodiscard]] std::vector<WideBytes> ticks() const;
    void draw_grid(Length top, Length bottom);
    void draw_tick_labels(Length y);
    void draw_model(const ChartModel& model, const std::vector<Row>& rows);
    void draw_row(const Row& row);
    void draw_bar(const Row& row);
    void draw_notes(const Row& row);

    /// From the left end of the bars; beyond their right end for what the picture cuts off.
    [[nodiscard]] Length length(WideBytes bytes) const {
        return static_cast<Length>((bytes * kBarWidth + scale_ / 2) / scale_);
    }
    [[nodiscard]] bool has(Part part) const;
    void box(Part part, WideBytes begin, WideBytes end, std::string_view tip);

    std::span<const ChartModel> models_;
    std::vector<std::vector<Row>> rows_;  ///< one list per model
    WideBytes scale_ = 1;                 ///< bytes of a whole bar
    svg::Canvas canvas_;
    Length y_ = 0;  ///< where the next thing is drawn
};

void Chart::set_scale() {
    WideBytes accelerators = 0;
    WideBytes all = 0;
    for (const auto& rows : rows_)
        for (const auto& row : rows) {
            scale_ = std::max(scale_, row.used());
            const auto capacity = row.capacity.value_or(0);
            all = std::max(all, capacity);
            if (row.device.kind != DeviceKind::cpu) accelerators = std::max(accelerators, capacity);
        }
    // without an accelerator there is nothing to compare the host with
    scale_ = std::max(scale_, accelerators != 0 ? accelerators : all);
}

bool Chart::has(Part part) const {
    const auto holds = [part](const Row& row) {
        if (part == Part::missing) return row.missing() != 0;
        return part == Part::free || part == Part::weights ||
               std::ranges::any_of(row.pieces, [part](const Piece& p) { return p.part == part; });
    };
    return std::ranges::any_of(rows_,
                               [&](const auto& rows) { return std::ranges::any_of(rows, holds); });
}

void Chart::draw_head() {
    canvas_.text(kMargin, px(34), "title", "Plan of memory");
    constexpr Length kSquare = px(11);
    constexpr Length kLetter = px(6);  // of small text, on average
    auto x = kMargin;
    for (const auto& [part, style, words] : kParts) {
        if (!has(part)) continue;
        canvas_.box({x, px(48), kSquare, kSquare}, style);
        canvas_.text(x + kSquare + px(6), px(58), "small", words);
        x += kSquare + px(22) + words.size() * kLetter;
    }
}

/// Multiples of a power of two, at most eight of them and zero.
std::vector<WideBytes> Chart::ticks() const {
    WideBytes step = 1;
    while (scale_ / step > 8) step *= 2;
    std::vector<WideBytes> found;
    for (WideBytes at = 0; at <= scale_; at += step) found.push_back(at);
    return found;
}

void Chart::draw_grid(Length top, Length bottom) {
    for (const auto at : ticks()) {
        const auto x = kBarLeft + length(at);
        canvas_.line(x, top, x, bottom, "grid");
    }
}

void Chart::draw_tick_labels(Length y) {
    for (const auto at : ticks()) {
        auto label = size(at);
        if (const auto zeros = label.find(".00 "); zeros != std::string::npos)
            label.erase(zeros, 3);
        canvas_.text(kBarLeft + length(at), y, "tick", label);
    }
}

std::string remarks(const ChartModel& model) {
    const auto& plan = model.plan;
    auto text = plan.mode == plan::Mode::automatic
                    ? std::string("automatic")
                    : svg::shortened(canonical(model.request.policy), kLongestRequest);
    if (!plan.moved.is_zero())
        text += fmt::format(" \u00b7 {} travel in each step", to_string(plan.moved));
    if (plan.expected)
        text += fmt::format(" \u00b7 {} ms for a step", plan.expected->step_ns / 1'000'000);
    return text;
}

void Chart::draw_model(const ChartModel& model, const std::vector<Row>& rows) {
    canvas_.text(kMargin, y_ + px(16), "model", svg::shortened(model.name, kLongestName));
    canvas_.text(kMargin, y_ + px(33), "small", remarks(model));
    y_ += kModelHeight;
    draw_grid(y_ - px(6), y_ + rows.size() * kRowHeight);
    for (const auto& row : rows) {
        draw_row(row);
        y_ += kRowHeight;
    }
}

void Chart::draw_row(const Row& row) {
    const auto right = kBarLeft - px(12);
    canvas_.text(right, y_ + px(13), "name left", to_string(row.device));
    if (row.computes) canvas_.text(right, y_ + px(29), "small left", "computes");
    draw_bar(row);
    draw_notes(row);
}

void Chart::box(Part part, WideBytes begin, WideBytes end, std::string_view tip) {
    const auto left = length(begin);
    const auto right = std::min(length(end), kBarWidth);
    canvas_.box({kBarLeft + left, y_, right - left, kBarHeight}, name_of(part).style, tip,
                fmt::format("data-bytes=\"{}\"", plan::Wide{end - begin}.text()));
}

/// What fits, then what is free or missing.
void Chart::draw_bar(const Row& row) {
    const auto used = row.used();
    const auto room = row.capacity.value_or(used);
    WideBytes at = 0;
    for (const auto& piece : row.pieces) {
        const auto end = std::min(at + piece.bytes, room);
        if (end > at)
            box(piece.part, at, end,
                fmt::format("{} {}", name_of(piece.part).words, size(piece.bytes)));
        at = end;
    }
    if (const auto missing = row.missing(); missing != 0)
        box(Part::missing, room, used, fmt::format("missing {}", size(missing)));
    if (used >= room) return;
    box(Part::free, used, room, fmt::format("free {}", size(room - used)));
    if (room <= scale_) return;
    const auto end = kBarLeft + kBarWidth;
    for (const auto shift : {px(0), px(4)})
        canvas_.line(end - px(8) + shift, y_ + kBarHeight + px(3), end - px(2) + shift, y_ - px(3),
                     "cut");
}

/// Sizes: beside the bar what it adds up to, below it the parts.
void Chart::draw_notes(const Row& row) {
    const auto used = row.used();
    std::string parts;
    for (const auto& piece : row.pieces)
        parts += fmt::format("{}{} {}", parts.empty() ? "" : " \u00b7 ", name_of(piece.part).words,
                             size(piece.bytes));
    canvas_.text(kBarLeft, y_ + kBarHeight + px(14), "small", parts);
    if (!row.capacity) {
        canvas_.text(kNotesLeft, y_ + px(13), "", size(used) + " stay in the file");
        return;
    }
    const auto missing = row.missing();
    canvas_.text(kNotesLeft, y_ + px(13), missing != 0 ? "alarm" : "",
                 fmt::format("{} of {}", size(used), size(*row.capacity)));
    auto rest = missing != 0 ? fmt::format("missing {}", size(missing))
                             : fmt::format("{} free", size(*row.capacity - used));
    if (row.total) rest += fmt::format(" \u00b7 {} in all", to_string(*row.total));
    canvas_.text(kNotesLeft, y_ + px(29), missing != 0 ? "small alarm" : "small", rest);
}

}  // namespace

std::string plan_chart(std::span<const ChartModel> models) { return Chart(models).draw(); }

}  // namespace ballast::cli
