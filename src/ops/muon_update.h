// Muon (Keller Jordan, "Muon: An optimizer for hidden layers", 2024, kellerjordan.github.io/posts/muon): changes each
// matrix inside a layer by an orthogonal matrix near the momentum of its gradients, so that rare directions are learned
// as fast as frequent ones.
#pragma once

#include "ops/weight_update.h"

namespace wasmformer {

struct MatrixUpdate {
  WeightUpdate values;  // all of [rows, cols], rows the outputs; `variance` is empty
  Index rows, cols;
};

struct MuonStep {
  double rate;  // for an input of norm 1, an output changes by a norm of at most about rate √max(1, rows / cols)
  double momentum;
};

// For each matrix:
//   m = β m + (1 - β) g
//   w = keep w - rate √max(1, rows / cols) orthogonalized(β m + (1 - β) g)
// where the argument is Nesterov's momentum. A matrix whose gradient and momentum are zero only decays.
void muon_update(ThreadPool& pool, std::span<const MatrixUpdate> matrices, const MuonStep& step);

// Makes x nearly orthogonal by five Newton-Schulz steps from x / ‖x‖ with Jordan's coefficients. For x = U S Vᵀ,
// returns U S' Vᵀ. The singular values S' are 0.7 to 1.2, except where S is tiny compared with its largest value;
// there they only come closer to 1. Returns zeros for zeros.
Matrix orthogonalized(ThreadPool& pool, Matrix x);

}  // namespace wasmformer
