#include "ballast/runtime/nodes/traffic.hpp"

#include <algorithm>

namespace ballast::runtime::nodes {
namespace {

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

Traffic::Sums Traffic::so_far() const {
    Sums sums{.copies = transfers_->counts().asked_for};
    if (simulation_ == nullptr) return sums;
    sums.compute_ns = simulation_->compute_ns();
    sums.wall_ns = static_cast<std::uint64_t>(simulation_->time().now().count());
    for (const auto& link : simulation_->link_use())
        sums.busy_ns[{link.from, link.to}] = link.busy_ns;
    return sums;
}

void Traffic::add_difference(Sums& sum, const Sums& start, const Sums& now) {
    sum.copies.copies += now.copies.copies - start.copies.copies;
    sum.copies.bytes += now.copies.bytes.minus_or_zero(start.copies.bytes);
    sum.compute_ns += now.compute_ns - start.compute_ns;
    sum.wall_ns += now.wall_ns - start.wall_ns;
    for (const auto& [ends, busy] : now.busy_ns) {
        const auto before = start.busy_ns.find(ends);
        sum.busy_ns[ends] += busy - (before == start.busy_ns.end() ? 0 : before->second);
    }
}

void Traffic::begin() {
    const std::scoped_lock lock(mutex_);
    if (running_++ == 0) start_ = so_far();
}

void Traffic::end() {
    const std::scoped_lock lock(mutex_);
    if (--running_ == 0) add_difference(sum_, start_, so_far());
}

void Traffic::reset() {
    const std::scoped_lock lock(mutex_);
    sum_ = {};
    start_ = so_far();
}

graph::StreamingReport Traffic::report() const {
    const std::scoped_lock lock(mutex_);
    auto sum = sum_;
    if (running_ > 0) add_difference(sum, start_, so_far());
    graph::StreamingReport report{.transfers = sum.copies.copies,
                                  .bytes = sum.copies.bytes,
                                  .compute_seconds = seconds(sum.compute_ns),
                                  .wall_seconds = seconds(sum.wall_ns)};
    for (const auto& [ends, busy] : sum.busy_ns)
        report.transfer_seconds = std::max(report.transfer_seconds, seconds(busy));
    report.bound_seconds = std::max(report.compute_seconds, report.transfer_seconds);
    return report;
}

}  // namespace ballast::runtime::nodes
