#include "ballast/engine/residency/pressure_monitor.hpp"

#include <fmt/format.h>

namespace ballast::residency {
namespace {

/// False for what is not a number, too.
bool is_percentage(double value) { return value >= 0 && value <= 100; }

}  // namespace

std::optional<double> usage_percent(std::optional<Bytes> total, std::optional<Bytes> available) {
    if (!total || !available || total->is_zero()) return std::nullopt;
    const auto used = total->minus_or_zero(*available);
    return static_cast<double>(used.count()) / static_cast<double>(total->count()) * 100;
}

PressureLook PressureMonitor::look(double usage_percent) {
    if (!is_percentage(usage_percent)) return {};
    if (usage_percent < kPressureThreshold - kPressureHysteresis) last_ = 0;
    PressureLook look{.usage = usage_percent};
    if (usage_percent <= kPressureThreshold) return look;
    if (usage_percent > last_ + kPressureHysteresis) {
        look.action = PressureAction::reset;
        look.tag = fmt::format("trigger:{:.1f}pct", usage_percent);
        last_ = usage_percent;
    } else {
        look.action = PressureAction::skip;
        look.tag = fmt::format("skip_hysteresis:{:.1f}pct", usage_percent);
    }
    return look;
}

void PressureMonitor::note_reset(double usage_percent) {
    if (is_percentage(usage_percent)) last_ = usage_percent;
}

PressureLook PressureWatch::look() {
    const auto now = clock_->now();
    if (looked_at_ && now - *looked_at_ < interval_) return {};
    looked_at_ = now;
    const auto usage = read_();
    return usage ? monitor_.look(*usage) : PressureLook{};
}

void PressureWatch::note_reset() {
    if (const auto usage = read_()) monitor_.note_reset(*usage);
}

}  // namespace ballast::residency
