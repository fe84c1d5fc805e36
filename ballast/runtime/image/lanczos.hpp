#pragma once
// Lanczos resampling as the reference does it: by its picture library, in 8 bits.

#include "ballast/runtime/image/resample.hpp"

namespace ballast::runtime::image {

/// `samples` [N, C, H, W] fp32 at the new size. Values become bytes first (times 255, limited, the
/// fraction dropped), then every row and after that every column is filtered with a window of three
/// lobes, widened when shrinking, in fixed point with bytes in between. The bytes equal the
/// reference's; the result is they divided by 255.
at::Tensor lanczos(const at::Tensor& samples, Size size);

}  // namespace ballast::runtime::image
