// Updates of weights by gradients: Adam (Kingma and Ba 2015) as in Vaswani et al. 2017, section 5.3, AdamW
// (Loshchilov and Hutter 2019), stochastic gradient descent with momentum, and Muon (Jordan 2024) for the matrices
// inside layers, with Adam for all else.
#pragma once

#include <vector>

#include "autograd/parameter.h"
#include "model/config.h"
#include "ops/weight_update.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

// Appended to every error about a step that failed, or about a run that cannot continue.
inline constexpr const char* diverged =
    "training has diverged. The weights are those from before this step; begin again with a lower "
    "learning_rate, or go back to an earlier checkpoint";
inline constexpr const char* start_again =
    "Begin again with a lower learning_rate, or go back to an earlier checkpoint";

class Optimizer {
 public:
  // Matrices in the parameter's shape. For sgd, `mean` is the velocity. `variance` is empty for sgd and where Muon is
  // used.
  // `exact` holds the unrounded weights of parameters that quantization_aware rounds; otherwise it is empty.
  struct Moments {
    Matrix mean, variance, exact;
  };

  // For each parameter, `becomes_int8`: whether int8 quantization rounds it, and `is_in_layer`: whether it is a matrix
  // inside a layer, for Muon; if empty, none are.
  Optimizer(std::vector<Parameter*> parameters, const TrainingConfig& config,
            const std::vector<bool>& becomes_int8 = {}, const std::vector<bool>& is_in_layer = {});

  // One update from the gradients, which become zero; the first `frozen` parameters stay as they are. Scales the
  // gradients to `clip_norm` first if they are longer. With quantization_aware, the gradient updates the exact weights,
  // which are then rounded (the straight-through estimator), from the step after quantization_start on. Muon's matrices
  // change at `muon_rate`, all else at `rate`. Returns the norm before scaling. Throws Error, and changes no weight,
  // when the norm is not finite.
  double step(ThreadPool& pool, Index step, double rate, std::size_t frozen = 0, double muon_rate = 0);

  std::vector<Moments>& moments() { return moments_; }
  // From the next step on; the kind stays.
  void change(const TrainingConfig& config) { config_ = config; }

 private:
  Matrix& exact_weights(std::size_t i);
  // Sets the weights that quantization_aware rounds to their exact ones, or to these rounded.
  void round_weights(ThreadPool& pool, std::size_t frozen, bool rounds);
  // The update of parameter i. If it is a matrix, it decays by the share rate * weight_decay.
  WeightUpdate update_of(std::size_t i, Scalar gradient_scale, double rate);

  std::vector<Parameter*> parameters_;
  std::vector<bool> uses_muon_;
  std::vector<Moments> moments_;
  TrainingConfig config_;
};

}  // namespace wasmformer
