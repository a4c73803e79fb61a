#include "train/optimizer.h"

#include <cmath>

#include "ops/weight_update.h"
#include "schema/error.h"
#include "tensor/int8_matrix.h"

namespace wasmformer {

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
  WASMFORMER_CHECK(std::isfinite(norm), ErrorCode::gradient_not_finite,
                   "the gradient of step " << step << " is not finite; " << diverged, {"step", step});

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
  Parameter& p = *parameters_[i];
  Moments& moments = moments_[i];
  const auto values = [](Matrix& m) { return std::span<Scalar>(m.data(), static_cast<std::size_t>(m.size())); };
  // Biases and the weights of layer norms are rows, and do not decay.
  const double keep = p.rows > 1 ? 1 - rate * config_.weight_decay : 1;
  const WeightUpdate update{.weights = values(weights),
                            .gradient = values(p.gradient),
                            .mean = values(moments.mean),
                            .variance = values(moments.variance),
                            .gradient_scale = scale,
                            .keep = static_cast<Scalar>(keep)};
  if (config_.optimizer == OptimizerKind::sgd)
    sgd_update(pool, update, rate, /*momentum=*/config_.beta1);
  else
    adam_update(pool, update,
                {.rate = rate, .beta1 = config_.beta1, .beta2 = config_.beta2, .epsilon = config_.epsilon, .t = t});
}

}  // namespace wasmformer
