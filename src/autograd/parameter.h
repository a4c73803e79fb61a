// A weight and its gradient, which outlive the tape.
#pragma once

#include "tensor/matrix.h"

namespace wasmformer {

struct Parameter {
  Matrix value;     // [rows, cols]; vectors are one row
  Matrix gradient;  // of the same shape while training, else empty; operations add to it
  bool wants_gradient() const { return gradient.size() > 0; }
  ConstView view() const { return {value.data(), value.rows(), value.cols()}; }
  View gradient_view() { return {gradient.data(), gradient.rows(), gradient.cols()}; }
};

}  // namespace wasmformer
