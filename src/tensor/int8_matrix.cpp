#include "tensor/int8_matrix.h"

#include <cmath>

namespace wasmformer {

Int8Matrix quantize(ConstView weights) {
  Int8Matrix result{weights.rows(), weights.cols(), {}, {}};
  result.values.reserve(static_cast<std::size_t>(weights.size()));
  for (Index i = 0; i < weights.rows(); ++i) {
    const float largest = weights.cols() > 0 ? static_cast<float>(weights.row(i).cwiseAbs().maxCoeff()) : 0.0f;
    const float scale = largest / 127;
    result.scales.push_back(scale);
    for (const Scalar w : weights.row(i))
      result.values.push_back(scale > 0 ? static_cast<std::int8_t>(std::lround(static_cast<float>(w) / scale))
                                        : std::int8_t{0});
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
