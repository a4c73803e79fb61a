// Inputs of a product with int8 weights, rounded.
#pragma once

#include <cstdint>
#include <optional>

#include "gemm/packed.h"

namespace wasmformer {

// Rows x of a product with int8 weights, [m, k]: x ≈ (q - zero) · scale with 0 ≤ q ≤ 127, because more would
// overflow products on some processors; asymmetric, so that outputs of ReLU use all of it. For weights with an input
// multiplier, q has 8 bits (simd::WideInputs) or is the sum of two parts.
struct QuantizedRows {
  Index rows = 0, cols = 0;
  std::int32_t* words = nullptr;  // [m, parts, int8_words(k)] of q, the missing ones 0
  float* scales = nullptr;        // [m]
  std::int32_t* zeros = nullptr;  // [m]
  Index parts = 1;
  std::optional<float> multiplier = {};  // PackedMatrix::input_multiplier() of the weights they are for
  bool is_wide = false;                  // PackedMatrix::takes_wide_inputs() of these

  // Returns whether the rows are rounded as products with these weights require.
  bool suit(const PackedMatrix& weights) const;
  QuantizedRows part(Span at) const;
};
// Rounding of inputs in products with some int8 weights.
struct InputRounding {
  std::optional<float> multiplier;  // shared by all rows; if empty, each row has its own scale and zero
  std::int32_t zero = 0;            // shared by all rows
  Index parts = 1;                  // as in QuantizedRows
};
// As the weights ask for (PackedMatrix::input_multiplier(), which is Bergamot's rounding in Marian), for inputs x.
InputRounding input_rounding(ConstView x, const PackedMatrix& weights);

// Quantizes rows [begin, end) of x.
void quantize_rows(ConstView x, const InputRounding& rounding, const QuantizedRows& rows, Index begin, Index end);
// Quantizes row i of `rows`, whose zero and parts are set, as its multiplier says; `multiplier` is that, or what its 0
// stands for.
void quantize_row(const Scalar* x, const QuantizedRows& rows, Index i, float multiplier);
// One row with a scale and a zero of its own.
void quantize_row(const Scalar* x, Index k, std::int32_t* words, float& scale, std::int32_t& zero);

}  // namespace wasmformer
