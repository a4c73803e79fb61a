// The peak of the noam schedule, equation 3 of Vaswani et al. 2017, and the factor before it that makes it another.
#pragma once

#include <cmath>

#include "tensor/matrix.h"

namespace wasmformer {

// The factor, learning_rate, with which the rate peaks at 1: without one it peaks at (d_model · warmup_steps)^-0.5, at
// step warmup_steps. So a peak is the factor divided by this, and a factor is the peak times this.
inline double noam_factor_of_1(Index d_model, Index warmup_steps) {
  return std::sqrt(static_cast<double>(d_model) * static_cast<double>(warmup_steps));
}

}  // namespace wasmformer
