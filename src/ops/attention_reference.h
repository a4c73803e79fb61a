// Equation (1) of Vaswani et al. 2017, section 3.2.1, in plain loops: what ops/attention.h computes fast, and is tested
// against.
#pragma once

#include <cmath>

#include "tensor/matrix.h"

namespace wasmformer {

struct AttentionReference {
  Eigen::MatrixXd weights;  // [queries, keys], rows sum to 1; 0 where a query does not see the key
  Eigen::MatrixXd output;   // [queries, d_v]
};

// q kᵀ / √d_k, of one query and one key.
inline double scaled_dot_product(const Eigen::RowVectorXd& q, const Eigen::RowVectorXd& k) {
  double product = 0;
  for (Index c = 0; c < q.size(); ++c) product += q(c) * k(c);
  return product / std::sqrt(static_cast<double>(q.size()));
}

// softmax(Q Kᵀ / √d_k) V of one head of one sentence, or with another `score` of a query and a key. q: [queries, d_k];
// k: [keys, d_k]; v: [keys, d_v]. `causal`: the last query sees all keys, the one before all but one, ... The scores
// must be small, as nothing is subtracted before the exponential.
template <class Score>
AttentionReference attention_reference(const Eigen::MatrixXd& q, const Eigen::MatrixXd& k, const Eigen::MatrixXd& v,
                                       bool causal, Score&& score) {
  AttentionReference result{Eigen::MatrixXd::Zero(q.rows(), k.rows()), Eigen::MatrixXd::Zero(q.rows(), v.cols())};
  for (Index i = 0; i < q.rows(); ++i) {
    const Index seen = causal ? k.rows() - (q.rows() - 1 - i) : k.rows();
    double sum = 0;
    for (Index j = 0; j < seen; ++j) {
      result.weights(i, j) = std::exp(score(q.row(i), k.row(j)));
      sum += result.weights(i, j);
    }
    for (Index j = 0; j < seen; ++j) {
      result.weights(i, j) /= sum;
      for (Index c = 0; c < v.cols(); ++c) result.output(i, c) += result.weights(i, j) * v(j, c);
    }
  }
  return result;
}

}  // namespace wasmformer
