// A weight and its gradient, which outlive the tape.
#pragma once

#include "gemm/packed.h"
#include "tensor/matrix.h"

namespace wasmformer {

struct Parameter {
  Index rows = 0, cols = 0;  // vectors are one row
  Matrix value;              // [rows, cols]; empty until set, and if only `packed` is kept
  // Gradient of the loss, [rows, cols]; empty outside training. Mutable, since it is not part of the weight: operations
  // of a const model add to it if the tape records. Without gradients a const parameter is never written.
  mutable Matrix gradient;
  PackedMatrix packed;  // the same for inference; int8 weights exist only here

  Parameter() = default;
  Parameter(Index r, Index c) : rows(r), cols(c) {}
  Parameter(Matrix v, Matrix g = {}) : rows(v.rows()), cols(v.cols()), value(std::move(v)), gradient(std::move(g)) {}

  bool wants_gradient() const { return gradient.size() > 0; }
  bool has_value() const { return value.rows() == rows && value.cols() == cols; }
  bool is_packed() const { return packed.format() != PackedMatrix::Format::none; }
  ConstView view() const { return {value.data(), value.rows(), value.cols()}; }
  View gradient_view() const { return {gradient.data(), gradient.rows(), gradient.cols()}; }

  // The values, even if they are packed or int8.
  Matrix matrix() const { return has_value() ? value : packed.matrix(); }
  // Copies row i, [1, cols].
  void row(Index i, Scalar* out) const {
    if (is_packed())
      packed.row(i, out);
    else
      std::copy_n(value.data() + i * cols, cols, out);
  }
};

}  // namespace wasmformer
