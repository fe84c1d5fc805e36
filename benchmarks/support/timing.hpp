#pragma once
// Times a piece of work several times over. Other work on the same machine makes single runs
// meaningless: benchmarks report the median, and the least where a bound is physical.

#include <functional>
#include <vector>

namespace ballast::benchmarks {

/// Seconds of several runs, in ascending order.
struct Samples {
    std::vector<double> seconds;

    [[nodiscard]] double least() const;
    [[nodiscard]] double median() const;
};

/// Seconds of one run, as it comes.
double time_once(const std::function<void()>& work);

/// Runs `work` once unmeasured, then `runs` times (at least once).
Samples time_runs(int runs, const std::function<void()>& work);

/// The same for two pieces of work that are to be compared, in turns, so that whatever else the
/// machine does meets both alike.
struct PairOfSamples {
    Samples first;
    Samples second;
};
PairOfSamples time_pairs(int runs, const std::function<void()>& first,
                         const std::function<void()>& second);

}  // namespace ballast::benchmarks
