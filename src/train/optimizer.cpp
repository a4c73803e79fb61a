#include "train/optimizer.h"

#include <cmath>
#include <numbers>

#include "schema/error.h"
#include "tensor/int8_matrix.h"

namespace wasmformer {

double learning_rate(const TrainingConfig& config, Index d_model, Index step) {
  const double t = static_cast<double>(step), warmup = static_cast<double>(std::max<Index>(config.warmup_steps, 1));
  const double decay = std::min(std::sqrt(warmup / t), t / warmup);  // both 1 at the end of the warm-up
  switch (config.schedule) {
    case Schedule::noam:
      return config.learning_rate / std::sqrt(static_cast<double>(d_model) * warmup) * decay;
    case Schedule::inverse_sqrt:
      return config.learning_rate * decay;
    case Schedule::cosine: {
      const double end = static_cast<double>(config.decay_steps);
      const double part = std::clamp((t - warmup) / (end - warmup), 0.0, 1.0);
      return config.learning_rate * std::min(1.0, t / warmup) * (1 + std::cos(std::numbers::pi * part)) / 2;
    }
    case Schedule::constant:
      return config.learning_rate * std::min(1.0, t / warmup);
  }
  return 0;
}

Optimizer::Optimizer(std::vector<Parameter*> parameters, const TrainingConfig& config,
                     const std::vector<bool>& becomes_int8)
    : parameters_(std::move(parameters)), config_(config) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Matrix& value = parameters_[i]->value;
    const Matrix zeros = Matrix::Zero(value.rows(), value.cols());
    const bool is_rounded = config.quantization_aware && i < becomes_int8.size() && becomes_int8[i];
    moments_.push_back(
        {zeros, config.optimizer == OptimizerKind::sgd ? Matrix() : zeros, is_rounded ? value : Matrix()});
  }
}

double Optimizer::step(ThreadPool& pool, Index step, double rate, std::size_t frozen) {
  for (std::size_t i = 0; i < frozen; ++i) parameters_[i]->gradient.setZero();
  double squares = 0;
  for (const Parameter* p : parameters_) squares += static_cast<double>(p->gradient.squaredNorm());
  const double norm = std::sqrt(squares);
  WASMFORMER_CHECK(std::isfinite(norm), ErrorCode::train,
                   "the gradient of step " << step << " is not finite; " << diverged);

  const bool clip = config_.clip_norm > 0 && norm > config_.clip_norm;
  const Scalar scale = static_cast<Scalar>(clip ? config_.clip_norm / norm : 1);
  for (std::size_t i = frozen; i < parameters_.size(); ++i) {
    Matrix& value = parameters_[i]->value;
    Matrix& exact = moments_[i].exact;
    update(pool, i, exact.size() > 0 ? exact : value, scale, rate, static_cast<double>(step));
    if (exact.size() > 0) value = dequantize(quantize({exact.data(), exact.rows(), exact.cols()}));
  }
  return norm;
}

void Optimizer::update(ThreadPool& pool, std::size_t i, Matrix& weights, Scalar scale, double rate, double t) {
  const Scalar b1 = static_cast<Scalar>(config_.beta1), b2 = static_cast<Scalar>(config_.beta2);
  const Scalar epsilon = static_cast<Scalar>(config_.epsilon);
  // Adam: rate · (m / (1 - b1^t)) / (√(v / (1 - b2^t)) + ε)
  const Scalar step_size = static_cast<Scalar>(rate / (1 - std::pow(config_.beta1, t)));
  const Scalar v_scale = static_cast<Scalar>(1 / (1 - std::pow(config_.beta2, t)));
  const bool is_sgd = config_.optimizer == OptimizerKind::sgd;
  Parameter& p = *parameters_[i];
  // Biases and the weights of layer norms are rows, and do not decay.
  const Scalar keep = static_cast<Scalar>(p.rows > 1 ? 1 - rate * config_.weight_decay : 1);
  pool.parallel_for(weights.size(), 65536, [&](Index begin, Index end) {
    using Values = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
    const Index n = end - begin;
    Values w(weights.data() + begin, n), g(p.gradient.data() + begin, n);
    Values m(moments_[i].mean.data() + begin, n);
    g *= scale;
    if (is_sgd) {
      m = b1 * m + g;
      w = keep * w - static_cast<Scalar>(rate) * m;
    } else {
      Values v(moments_[i].variance.data() + begin, n);
      m = b1 * m + (1 - b1) * g;
      v = b2 * v + (1 - b2) * g.square();
      w = keep * w - step_size * m / ((v * v_scale).sqrt() + epsilon);
    }
    g.setZero();
  });
}

}  // namespace wasmformer
