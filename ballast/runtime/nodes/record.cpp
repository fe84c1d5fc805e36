#include "ballast/runtime/nodes/record.hpp"

#include <utility>

namespace ballast::runtime::nodes {
namespace {

Bytes total(const std::map<DeviceId, Bytes>& sums) {
    Bytes total;
    for (const auto& [device, bytes] : sums) total += bytes;
    return total;
}

void add(std::map<DeviceId, Bytes>& sums, const std::map<DeviceId, Bytes>& more) {
    for (const auto& [device, bytes] : more) sums[device] += bytes;
}

}  // namespace

void Record::add_seconds(Phase phase, double seconds) {
    const std::scoped_lock lock(mutex_);
    seconds_.at(static_cast<std::size_t>(phase)) += seconds;
}

void Record::add_model(graph::ModelReport report,
                       std::weak_ptr<const weights::WeightStore> weights) {
    const std::scoped_lock lock(mutex_);
    // read anew, it takes the place of what is gone
    std::erase_if(models_, [&report](const Entry& entry) {
        return entry.report.name == report.name && entry.weights.expired();
    });
    models_.push_back({std::move(report), std::move(weights)});
    measure();
}

void Record::write(graph::RuntimeReport& report) const {
    const std::scoped_lock lock(mutex_);
    report.load_seconds = seconds_[static_cast<std::size_t>(Phase::load)];
    report.sample_seconds = seconds_[static_cast<std::size_t>(Phase::sample)];
    report.decode_seconds = seconds_[static_cast<std::size_t>(Phase::decode)];
    for (const auto& entry : models_) report.models.push_back(entry.report);
    report.planned = most_.planned;
    report.realised = most_.realised;
}

void Record::reset() {
    const std::scoped_lock lock(mutex_);
    seconds_ = {};
    std::erase_if(models_, [](const Entry& entry) { return entry.weights.expired(); });
    most_ = {};
    measure();
}

void Record::measure() {
    Sums now;
    for (const auto& entry : models_) {
        const auto weights = entry.weights.lock();
        if (!weights) continue;
        add(now.planned, weights->is_complete() ? weights->plan().per_device : weights->present());
        add(now.realised, weights->present());
    }
    if (total(now.realised) > total(most_.realised)) most_ = std::move(now);
}

}  // namespace ballast::runtime::nodes
