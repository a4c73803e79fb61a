// A weight in the order in which the kernels read it: packed once, at load, for all products.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensor/int8_matrix.h"
#include "tensor/matrix.h"

namespace wasmformer {

enum class Op { none, transpose };

// Writes panels (gemm/panels.h) [begin, end) of op(b), [k, n], to their positions in `out`, which has room for
// all. Element (p, j) is at p · width + j % width of panel j / width; columns from n on are zeros.
void pack_panels(ConstView b, Op op, Index begin, Index end, Scalar* out);

// By how much a weight exceeds its value in the panels.
struct Int8Excess {
  Index row, column;
  std::int32_t value;
};

// W of y = x Wᵀ, [n, k], as panels of Wᵀ: of Scalars, or of words of consecutive int8 values of a row.
class PackedMatrix {
 public:
  enum class Format { none, scalar, int8 };

  PackedMatrix() = default;
  explicit PackedMatrix(ConstView weights);
  // Throws Error for rows so long that sums of products would overflow 32 bits.
  explicit PackedMatrix(const Int8Matrix& weights);
  PackedMatrix(Index rows, Index cols, const std::int8_t* values, const float* scales,  // as Int8Matrix
               std::optional<float> input_multiplier = {});

  Format format() const { return format_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  // Rounding of inputs in products with int8 weights. None: each row to 7 bits, with a scale of its own. Else as in
  // Marian: all inputs times this, rounded to whole numbers, -127 to 127; 0 stands for 127 / their largest magnitude.
  std::optional<float> input_multiplier() const { return input_multiplier_; }
  // Returns whether inputs with a multiplier enter a product whole (simd::WideInputs), rather than as two parts.
  bool takes_wide_inputs() const { return takes_wide_inputs_; }

  // Row j, [1, k], as numbers.
  void row(Index j, Scalar* out) const;
  // These rows alone, in this order.
  PackedMatrix rows_at(std::span<const TokenId> at) const;
  // The original values; for int8 see int8_matrix().
  Matrix matrix() const;
  Int8Matrix int8_matrix() const;

  // For the kernels.
  const Scalar* scalars() const { return scalars_.data(); }
  const std::int32_t* words() const { return words_.data(); }
  const float* scales() const { return scales_.data(); }     // for int8: one per row, for whole panels
  const std::int32_t* sums() const { return sums_.data(); }  // sums of each row's int8 values, likewise
  // Excess of rows [begin, end), not in the panels so that sums of two products do not saturate (simd::WideInputs).
  std::span<const Int8Excess> excess(Index begin, Index end) const {
    if (excess_.empty()) return {};
    return {excess_.data() + excess_starts_[begin], excess_.data() + excess_starts_[end]};
  }

 private:
  template <class T>
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;  // aligned to the vectors

  Index small_of(Index j, Index p) const;  // index of an int8 value
  void pack_int8(const std::int8_t* values, const float* scales, bool has_excess);

  Format format_ = Format::none;
  Index rows_ = 0, cols_ = 0;
  Array<Scalar> scalars_;
  Array<std::int32_t> words_;
  Array<float> scales_;
  Array<std::int32_t> sums_;
  std::optional<float> input_multiplier_;
  bool takes_wide_inputs_ = false;
  Array<std::int32_t> excess_starts_;  // by row, for whole panels and one more; empty without excess
  std::vector<Int8Excess> excess_;
};

}  // namespace wasmformer
