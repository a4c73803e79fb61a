#include "train/optimizer.h"

#include <cmath>

#include "ops/muon_update.h"
#include "schema/error.h"
#include "tensor/int4_matrix.h"
#include "tensor/int8_matrix.h"

namespace wasmformer {
namespace {

Matrix rounded(const Matrix& exact, Index bits) {
  const ConstView weights{exact.data(), exact.rows(), exact.cols()};
  return bits == 4 ? rounded_to_int4(weights) : dequantize(quantize(weights));
}

}  // namespace

Optimizer::Optimizer(std::vector<Parameter*> parameters, const TrainingConfig& config,
                     const std::vector<bool>& becomes_int8, const std::vector<bool>& is_in_layer)
    : parameters_(std::move(parameters)), uses_muon_(parameters_.size()), config_(config) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Matrix& value = parameters_[i]->value;
    const Matrix zeros = Matrix::Zero(value.rows(), value.cols());
    const bool is_rounded = config.quantization_aware && i < becomes_int8.size() && becomes_int8[i];
    uses_muon_[i] = config.optimizer == OptimizerKind::muon && i < is_in_layer.size() && is_in_layer[i];
    const bool has_one_moment = config.optimizer == OptimizerKind::sgd || uses_muon_[i];
    moments_.push_back({zeros, has_one_moment ? Matrix() : zeros, is_rounded ? value : Matrix()});
  }
}

double Optimizer::step(ThreadPool& pool, Index step, double rate, std::size_t frozen, double muon_rate) {
  for (std::size_t i = 0; i < frozen; ++i) parameters_[i]->gradient.setZero();
  double squares = 0;
  for (const Parameter* p : parameters_) squares += static_cast<double>(p->gradient.squaredNorm());
  const double norm = std::sqrt(squares);
  WASMFORMER_CHECK(std::isfinite(norm), ErrorCode::gradient_not_finite,
                   "the gradient of step " << step << " is not finite; " << diverged, {"step", step});

  const bool clip = config_.clip_norm > 0 && norm > config_.clip_norm;
  const Scalar scale = static_cast<Scalar>(clip ? config_.clip_norm / norm : 1);
  const AdamStep adam{.rate = rate,
                      .beta1 = config_.beta1,
                      .beta2 = config_.beta2,
                      .epsilon = config_.epsilon,
                      .t = static_cast<double>(step)};
  std::vector<MatrixUpdate> in_layers;
  for (std::size_t i = frozen; i < parameters_.size(); ++i) {
    const Parameter& p = *parameters_[i];
    const WeightUpdate update = update_of(i, scale, uses_muon_[i] ? muon_rate : rate);
    if (uses_muon_[i])
      in_layers.push_back({.values = update, .rows = p.rows, .cols = p.cols});
    else if (config_.optimizer == OptimizerKind::sgd)
      sgd_update(pool, update, rate, /*momentum=*/config_.beta1);
    else
      adam_update(pool, update, adam);
  }
  muon_update(pool, in_layers, {.rate = muon_rate, .momentum = config_.muon_momentum});
  round_weights(pool, frozen, step > config_.quantization_start);
  return norm;
}

void Optimizer::round_weights(ThreadPool& pool, std::size_t frozen, bool rounds) {
  const auto round_one = [&](std::size_t i) {
    const Matrix& exact = moments_[i].exact;
    if (exact.size() == 0) return;
    parameters_[i]->value = rounds ? rounded(exact, config_.quantization_bits) : exact;
  };
  const auto count = static_cast<Index>(parameters_.size() - frozen);
  pool.parallel_for(count, /*grain=*/1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) round_one(frozen + static_cast<std::size_t>(i));
  });
}

Matrix& Optimizer::exact_weights(std::size_t i) {
  Matrix& exact = moments_[i].exact;
  return exact.size() > 0 ? exact : parameters_[i]->value;
}

WeightUpdate Optimizer::update_of(std::size_t i, Scalar gradient_scale, double rate) {
  Parameter& p = *parameters_[i];
  const auto values = [](Matrix& m) { return std::span<Scalar>(m.data(), static_cast<std::size_t>(m.size())); };
  // Biases and the weights of layer norms are rows, and do not decay.
  const double keep = p.rows > 1 ? 1 - rate * config_.weight_decay : 1;
  return {.weights = values(exact_weights(i)),
          .gradient = values(p.gradient),
          .mean = values(moments_[i].mean),
          .variance = values(moments_[i].variance),
          .gradient_scale = gradient_scale,
          .keep = static_cast<Scalar>(keep)};
}

}  // namespace wasmformer
