#include "tensor/int8_matrix.h"

#include <algorithm>

namespace wasmformer {

namespace {

// Rounds to the nearest integer, halves away from zero, as std::lround does; but in WebAssembly that is a function call
// for each weight. NaN, which has no nearest integer, becomes 127.
std::int8_t rounded(float value) {
  const float within = std::max(-127.0f, std::min(127.0f, value));
  const int whole = static_cast<int>(within);
  const float rest = within - static_cast<float>(whole);
  const int up = rest >= 0.5f ? 1 : 0;
  const int down = rest <= -0.5f ? 1 : 0;
  return static_cast<std::int8_t>(whole + up - down);
}

}  // namespace

Int8Matrix quantize(ConstView weights) {
  Int8Matrix result{weights.rows(), weights.cols(), {}, {}};
  result.values.resize(static_cast<std::size_t>(weights.size()));
  const Index cols = weights.cols();
  for (Index i = 0; i < weights.rows(); ++i) {
    const float largest = cols > 0 ? static_cast<float>(weights.row(i).cwiseAbs().maxCoeff()) : 0.0f;
    const float scale = largest / 127;
    result.scales.push_back(scale);
    if (!(scale > 0)) continue;  // the values stay 0
    const Scalar* row = &weights(i, 0);
    std::int8_t* values = result.values.data() + i * cols;
    for (Index j = 0; j < cols; ++j) values[j] = rounded(static_cast<float>(row[j]) / scale);
  }
  return result;
}

Matrix dequantize(const Int8Matrix& weights) {
  Matrix result(weights.rows, weights.cols);
  for (Index i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<Scalar>(static_cast<float>(weights.values[static_cast<std::size_t>(i)]) *
                                           weights.scales[static_cast<std::size_t>(i / weights.cols)]);
  return result;
}

}  // namespace wasmformer
