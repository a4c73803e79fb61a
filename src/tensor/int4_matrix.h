// Weights as 4 bits, used only in files: a model read from one has int8 weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/int8_matrix.h"

namespace wasmformer {

// Weights of a row that share a scale. With 32 of them and a scale of 16 bits, a weight takes 4.5 bits.
inline constexpr Index int4_group = 32;

// Sizes of the parts of [rows, cols].
Index int4_bytes(Index rows, Index cols);  // bytes of the values: each row begins at a byte of its own
Index int4_groups(Index cols);             // groups of a row; the last one may be shorter

// Values of a matrix [rows, cols]: two to a byte, the first in its low half. Each is the index of one of the 16 numbers
// of NF4 (Dettmers et al. 2023), which, times the scale of its group, is the weight that it stands for.
struct Int4Matrix {
  Index rows = 0, cols = 0;
  std::vector<std::uint8_t> values;  // [rows, (cols + 1) / 2]
  std::vector<Eigen::half> scales;   // [rows, int4_groups(cols)]
};

// Several scales are tried for each group, and the one with the least squared error is kept.
Int4Matrix quantize_int4(ConstView weights);
// The weights after such rounding, with the largest magnitude of each group as its scale: quick enough for every step
// of training, and quantize_int4() gives the result back unchanged.
Matrix rounded_to_int4(ConstView weights);
// The weights as int8, whose rounding adds little to that of 4 bits.
Int8Matrix to_int8(Index rows, Index cols, std::span<const std::uint8_t> values, std::span<const Eigen::half> scales);

}  // namespace wasmformer
