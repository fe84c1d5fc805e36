#include "ballast/runtime/sampling/schedules/incomplete_beta.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ballast::runtime::sampling {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTiny = 1e-300;
constexpr int kMaxTerms = 300;
constexpr int kMaxRefinements = 200;

/// Far from zero, so that Lentz's quotients exist.
double away_from_zero(double value) { return std::abs(value) < kTiny ? kTiny : value; }

/// The continued fraction of I_x(a, b) by Lentz's method; converges fast for x < (a+1) / (a+b+2).
double continued_fraction(double a, double b, double x) {
    double c = 1.0;
    double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    double value = d;
    for (int m = 1; m <= kMaxTerms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        value *= d * c;
        if (std::abs(d * c - 1.0) < kEpsilon) break;
    }
    return value;
}

double beta_function(double a, double b) {
    return std::tgamma(a) * (std::tgamma(b) / std::tgamma(a + b));
}

double density(double a, double b, double x) {
    return std::pow(x, a - 1.0) * std::pow(1.0 - x, b - 1.0) / beta_function(a, b);
}

/// The root in (0, 1/2] by Newton's method, kept inside a shrinking bracket.
double inverse_in_lower_half(double a, double b, double p) {
    double low = 0.0;
    double high = 0.5;
    double x = std::min(std::pow(p * a * beta_function(a, b), 1.0 / a), 0.25);
    for (int i = 0; i < kMaxRefinements && high - low > kEpsilon * high; ++i) {
        if (!(x > low && x < high)) x = low + (high - low) / 2.0;
        const double excess = incomplete_beta(a, b, x) - p;
        if (excess == 0.0) break;
        (excess > 0.0 ? high : low) = x;
        const double step = excess / density(a, b, x);
        if (std::abs(step) < kEpsilon * x) break;
        x -= step;
    }
    return x;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    const double front = std::pow(x, a) * std::pow(1.0 - x, b) / beta_function(a, b);
    if (x < (a + 1.0) / (a + b + 2.0)) return front * continued_fraction(a, b, x) / a;
    return 1.0 - front * continued_fraction(b, a, 1.0 - x) / b;
}

double inverse_incomplete_beta(double a, double b, double p) {
    if (p <= 0.0) return 0.0;
    if (p >= 1.0) return 1.0;
    if (a == b && p == 0.5) return 0.5;
    if (p > incomplete_beta(a, b, 0.5)) return 1.0 - inverse_in_lower_half(b, a, 1.0 - p);
    return inverse_in_lower_half(a, b, p);
}

}  // namespace ballast::runtime::sampling
