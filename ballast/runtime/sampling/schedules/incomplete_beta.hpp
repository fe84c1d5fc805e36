#pragma once
// The regularised incomplete beta function and its inverse, which spaces the `beta` schedule.

namespace ballast::runtime::sampling {

/// I_x(a, b), the distribution function of the beta distribution, for 0 <= x <= 1 and
/// 0 < a, b <= 80. Absolute error below 1e-14. Continued fraction: DLMF 8.17.22.
double incomplete_beta(double a, double b, double x);

/// The x with I_x(a, b) = p, for 0 <= p <= 1. Exact at p = 0, 1 and, for a = b, at 1/2.
double inverse_incomplete_beta(double a, double b, double p);

}  // namespace ballast::runtime::sampling
