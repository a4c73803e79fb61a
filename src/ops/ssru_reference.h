// The simpler simple recurrent unit in plain loops: what ops/ssru.h computes fast, and is tested against.
#pragma once

#include <algorithm>
#include <cmath>

#include "tensor/matrix.h"

namespace wasmformer {

// relu(c_t) with c_t = f_t ⊙ c_{t-1} + (1 - f_t) ⊙ u_t, f_t = σ(gate_t) and c = 0 before the first token, of one
// sentence. u, gate: [tokens, d].
inline Eigen::MatrixXd ssru_reference(const Eigen::MatrixXd& u, const Eigen::MatrixXd& gate) {
  Eigen::MatrixXd y(u.rows(), u.cols());
  for (Index column = 0; column < u.cols(); ++column) {
    double cell = 0;
    for (Index t = 0; t < u.rows(); ++t) {
      const double forget = 1 / (1 + std::exp(-gate(t, column)));
      cell = forget * cell + (1 - forget) * u(t, column);
      y(t, column) = std::max(cell, 0.0);
    }
  }
  return y;
}

}  // namespace wasmformer
