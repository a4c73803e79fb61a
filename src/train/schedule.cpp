#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/noam.h"

namespace wasmformer {

double noam_reference(double d_model, double step_num, double warmup_steps) {
  return std::pow(d_model, -0.5) * std::min(std::pow(step_num, -0.5), step_num * std::pow(warmup_steps, -1.5));
}

double peak_rate(const TrainingConfig& config, Index d_model) {
  if (config.schedule != Schedule::noam) return config.learning_rate;
  // d^-0.5 · min(t^-0.5, t · warmup^-1.5) = (d · warmup)^-0.5 · min(√(warmup / t), t / warmup)
  return config.learning_rate / noam_factor_of_1(d_model, std::max<Index>(config.warmup_steps, 1));
}

double scheduled_rate(const TrainingConfig& config, Index d_model, Index step) {
  const Index warmup_steps = std::max<Index>(config.warmup_steps, 1);
  const double t = static_cast<double>(step), warmup = static_cast<double>(warmup_steps);
  const double rise = t / warmup;  // 1 at the end of the warm-up
  // Both parts of the minimum are 1 at the end of the warm-up.
  const double rise_and_fall = std::min(std::sqrt(warmup / t), rise);
  const double end = static_cast<double>(config.decay_steps);
  const double decayed = std::clamp((t - warmup) / (end - warmup), 0.0, 1.0);  // 0 at the end of the warm-up
  switch (config.schedule) {
    case Schedule::noam:
    case Schedule::inverse_sqrt:
      // Both have the same curve; the peak of noam follows from equation (3).
      return peak_rate(config, d_model) * rise_and_fall;
    case Schedule::cosine:
      return config.learning_rate * std::min(1.0, rise) * (1 + std::cos(std::numbers::pi * decayed)) / 2;
    case Schedule::linear:
      return config.learning_rate * std::min(1.0, rise) * (1 - decayed);
    case Schedule::constant:
      return config.learning_rate * std::min(1.0, rise);
  }
  return 0;
}

}  // namespace wasmformer
