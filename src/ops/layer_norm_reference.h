// Layer normalization in plain loops: what ops/layer_norm.h computes fast, and is tested against.
#pragma once

#include <cmath>

#include "tensor/matrix.h"

namespace wasmformer {

// (x - mean) / √(variance + epsilon) · weight + bias of every row, with the biased variance. x: [n, d]; weight, bias:
// [1, d].
inline Eigen::MatrixXd layer_norm_reference(const Eigen::MatrixXd& x, const Eigen::RowVectorXd& weight,
                                            const Eigen::RowVectorXd& bias, double epsilon) {
  Eigen::MatrixXd y(x.rows(), x.cols());
  const double d = static_cast<double>(x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    double mean = 0, variance = 0;
    for (Index c = 0; c < x.cols(); ++c) mean += x(i, c) / d;
    for (Index c = 0; c < x.cols(); ++c) variance += (x(i, c) - mean) * (x(i, c) - mean) / d;
    for (Index c = 0; c < x.cols(); ++c)
      y(i, c) = (x(i, c) - mean) / std::sqrt(variance + epsilon) * weight(c) + bias(c);
  }
  return y;
}

}  // namespace wasmformer
