#include "train/adam.h"

#include <cmath>

#include "tensor/check.h"

namespace wasmformer {

double learning_rate(const TrainingConfig& config, Index d_model, Index step) {
  const double t = static_cast<double>(step),
               warmup = static_cast<double>(std::max<Index>(config.warmup_steps, 1));
  const double decay = std::min(std::sqrt(warmup / t), t / warmup);  // both 1 at the end of the warm-up
  switch (config.schedule) {
    case Schedule::noam:
      return config.learning_rate / std::sqrt(static_cast<double>(d_model) * warmup) * decay;
    case Schedule::inverse_sqrt:
      return config.learning_rate * decay;
    case Schedule::constant:
      return config.learning_rate * std::min(1.0, t / warmup);
  }
  return 0;
}

Adam::Adam(std::vector<Parameter*> parameters, const TrainingConfig& config)
    : parameters_(std::move(parameters)), config_(config) {
  for (const Parameter* p : parameters_) {
    const Matrix zeros = Matrix::Zero(p->value.rows(), p->value.cols());
    moments_.push_back({zeros, zeros});
  }
}

double Adam::step(ThreadPool& pool, Index step, double rate) {
  double squares = 0;
  for (const Parameter* p : parameters_) squares += static_cast<double>(p->gradient.squaredNorm());
  const double norm = std::sqrt(squares);
  WASMFORMER_CHECK(std::isfinite(norm), "[train] the gradient of step "
                                            << step << " is not finite; a lower learning_rate may help");

  const bool clip = config_.clip_norm > 0 && norm > config_.clip_norm;
  const Scalar scale = static_cast<Scalar>(clip ? config_.clip_norm / norm : 1);
  const Scalar b1 = static_cast<Scalar>(config_.beta1), b2 = static_cast<Scalar>(config_.beta2);
  const Scalar epsilon = static_cast<Scalar>(config_.epsilon);
  const double t = static_cast<double>(step);
  // rate · (m / (1 - b1^t)) / (√(v / (1 - b2^t)) + ε)
  const Scalar step_size = static_cast<Scalar>(rate / (1 - std::pow(config_.beta1, t)));
  const Scalar v_scale = static_cast<Scalar>(1 / (1 - std::pow(config_.beta2, t)));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& p = *parameters_[i];
    pool.parallel_for(p.value.size(), 65536, [&, i](Index begin, Index end) {
      using Values = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
      const Index n = end - begin;
      Values w(p.value.data() + begin, n), g(p.gradient.data() + begin, n);
      Values m(moments_[i].mean.data() + begin, n), v(moments_[i].variance.data() + begin, n);
      g *= scale;
      m = b1 * m + (1 - b1) * g;
      v = b2 * v + (1 - b2) * g.square();
      w -= step_size * m / ((v * v_scale).sqrt() + epsilon);
      g.setZero();
    });
  }
  return norm;
}

}  // namespace wasmformer
