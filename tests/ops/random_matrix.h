// What the tests of operations share: seeded inputs, and spans of given sizes.
#pragma once

#include <vector>

#include "autograd/parameter.h"
#include "tensor/matrix.h"
#include "tensor/random.h"

namespace wasmformer {

// Uniform in [-1, 1).
inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return Matrix::NullaryExpr(rows, cols, [&] { return static_cast<Scalar>(2 * random.uniform() - 1); });
}

inline Parameter random_parameter(Index rows, Index cols, std::uint64_t seed) {
  return {random_matrix(rows, cols, seed), Matrix::Zero(rows, cols)};
}

// Spans of these sizes, one after the other.
inline Spans spans_of(const std::vector<Index>& sizes) {
  Spans spans;
  Index at = 0;
  for (Index size : sizes) {
    spans.push_back({at, size});
    at += size;
  }
  return spans;
}

}  // namespace wasmformer
