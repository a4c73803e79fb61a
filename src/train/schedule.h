// Learning rate over the steps of a run.
#pragma once

#include "model/config.h"

namespace wasmformer {

// Equation (3) of Vaswani et al. 2017, section 5.3, as it stands there:
//   lrate = d_model^-0.5 · min(step_num^-0.5, step_num · warmup_steps^-1.5)
// scheduled_rate() below computes the same in another order, and is tested against it.
double noam_reference(double d_model, double step_num, double warmup_steps);

// The rate of step t = 1, 2, ... noam: learning_rate times equation (3); the others: linear up to learning_rate at
// `warmup_steps`, then learning_rate √(warmup / t) (inverse_sqrt), half a cosine or a straight line down to 0 at
// `decay_steps` (cosine, linear), or no change (constant).
double scheduled_rate(const TrainingConfig& config, Index d_model, Index step);
// The highest rate that scheduled_rate() returns.
double peak_rate(const TrainingConfig& config, Index d_model);

}  // namespace wasmformer
