// Weights as int8: [rows, cols], one scale per row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct Int8Matrix {
  Index rows = 0, cols = 0;
  std::vector<std::int8_t> values;  // row-major, -127 to 127; value · scales[row] is what it stands for
  std::vector<float> scales;
  // Rounding of inputs in products; see PackedMatrix.
  std::optional<float> input_multiplier = {};
};

// The scale of a row is its largest magnitude / 127.
Int8Matrix quantize(ConstView weights);
Matrix dequantize(const Int8Matrix& weights);

}  // namespace wasmformer
