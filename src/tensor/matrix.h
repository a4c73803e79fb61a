// Two dimensions everywhere: rows are tokens, columns are features, heads are column blocks.
#pragma once

#include <Eigen/Core>
#include <type_traits>
#include <vector>

#include "wasmformer/types.h"

namespace wasmformer {

// The double build exists for the gradient checks of the tests.
#ifdef WASMFORMER_DOUBLE
using Scalar = double;
#else
using Scalar = float;
#endif

static_assert(std::is_same_v<Index, Eigen::Index>);
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;
using View = Eigen::Map<Matrix>;
using ConstView = Eigen::Map<const Matrix>;

// Rows [begin, begin + size) of a packed batch: one sentence.
struct Span {
  Index begin = 0;
  Index size = 0;
  Index end() const { return begin + size; }
  bool operator==(const Span&) const = default;
};
using Spans = std::vector<Span>;

}  // namespace wasmformer
