#include "benchmarks/support/timing.hpp"

#include <algorithm>
#include <chrono>

namespace ballast::benchmarks {
namespace {

Samples sorted(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {std::move(seconds)};
}

}  // namespace

double time_once(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double Samples::least() const { return seconds.front(); }

double Samples::median() const {
    const auto middle = seconds.size() / 2;
    return seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
}

Samples time_runs(int runs, const std::function<void()>& work) {
    work();
    std::vector<double> seconds;
    for (int i = 0; i < std::max(1, runs); ++i) seconds.push_back(time_once(work));
    return sorted(std::move(seconds));
}

PairOfSamples time_pairs(int runs, const std::function<void()>& first,
                         const std::function<void()>& second) {
    first();
    second();
    std::vector<double> of_first;
    std::vector<double> of_second;
    for (int i = 0; i < std::max(1, runs); ++i) {
        of_first.push_back(time_once(first));
        of_second.push_back(time_once(second));
    }
    return {sorted(std::move(of_first)), sorted(std::move(of_second))};
}

}  // namespace ballast::benchmarks
