// Updates of weights by a gradient: Adam (Kingma and Ba 2015, algorithm 1; with decay AdamW, Loshchilov and Hutter
// 2019) and stochastic gradient descent with momentum. Elementwise, over arrays of one size.
#pragma once

#include <span>

#include "tensor/matrix.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

struct WeightUpdate {
  std::span<Scalar> weights;   // w
  std::span<Scalar> gradient;  // g; becomes zero
  std::span<Scalar> mean;      // m; of sgd the velocity
  std::span<Scalar> variance;  // v; empty for sgd
  Scalar gradient_scale = 1;   // g is multiplied by this first, for clipping
  Scalar keep = 1;             // w is multiplied by this, for decay
};

struct AdamStep {
  double rate, beta1, beta2, epsilon;
  double t;  // 1 for the first update
};

//   m = β1 m + (1 - β1) g
//   v = β2 v + (1 - β2) g²
//   w = keep w - rate · (m / (1 - β1ᵗ)) / (√(v / (1 - β2ᵗ)) + ε)
void adam_update(ThreadPool& pool, const WeightUpdate& update, const AdamStep& step);

//   m = momentum m + g
//   w = keep w - rate m
void sgd_update(ThreadPool& pool, const WeightUpdate& update, double rate, double momentum);

}  // namespace wasmformer
