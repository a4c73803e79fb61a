// How a gradient changes the matrices inside layers by Muon (Keller Jordan, "Muon: An optimizer for hidden layers",
// 2024, kellerjordan.github.io/posts/muon): by an orthogonal matrix near its momentum, so that rare directions are
// learned as fast as frequent ones.
#pragma once

#include "ops/weight_update.h"

namespace wasmformer {

struct MatrixUpdate {
  WeightUpdate values;  // all of [rows, cols], rows the outputs; `variance` is empty
  Index rows, cols;
};

struct MuonStep {
  double rate;  // about the norm of the change of an output, per norm 1 of an input
  double momentum;
};

// For each matrix:
//   m = β m + (1 - β) g
//   w = keep w - rate √max(1, rows / cols) orthogonalized(β m + (1 - β) g)
// where the argument is Nesterov's momentum. A matrix whose gradient and momentum are zero only decays.
void muon_update(ThreadPool& pool, std::span<const MatrixUpdate> matrices, const MuonStep& step);

// Five steps of Newton and Schulz from x / ‖x‖, with Jordan's coefficients: U S' Vᵀ for x = U S Vᵀ, where the S' are
// 0.7 to 1.2 except those of S that are near 0 beside the others, which come closer to 1. Of the shape of x; zero for
// zero.
Matrix orthogonalized(ThreadPool& pool, Matrix x);

}  // namespace wasmformer
