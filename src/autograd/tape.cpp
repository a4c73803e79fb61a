#include "autograd/tape.h"

#include <algorithm>
#include <utility>

#include "gemm/panels.h"

namespace wasmformer {
namespace {

// Pieces of memory begin at multiples of 64 bytes, as the arena's do.
constexpr Index aligned(Index count) {
  constexpr Index whole = 64 / sizeof(Scalar);
  return (count + whole - 1) / whole * whole;
}

}  // namespace

ConstView Var::gradient() const {
  WASMFORMER_CHECK(node_->gradient, ErrorCode::gradient, "no gradient reached this " << shape(*this) << " variable");
  return {node_->gradient, node_->rows, node_->cols};
}

Var Tape::variable(Index rows, Index cols, bool wants_gradient) {
  auto* node = arena_.take<Var::Node>(1);
  *node = {rows, cols, arena_.take<Scalar>(rows * cols), nullptr, recording_ && wants_gradient, nullptr};
  return Var(node);
}

Var Tape::variable_over(Var var, bool wants_gradient) {
  auto* node = arena_.take<Var::Node>(1);
  *node = *var.node_;
  node->gradient = nullptr, node->quantized = nullptr, node->wants_gradient = recording_ && wants_gradient;
  return Var(node);
}

Var Tape::constant(const Matrix& value) {
  auto* node = arena_.take<Var::Node>(1);
  *node = {value.rows(), value.cols(), const_cast<Scalar*>(value.data()), nullptr, false, nullptr};
  return Var(node);
}

const QuantizedRows& Tape::quantized(Var var, const PackedMatrix& weights) {
  const std::optional<float> asked = weights.input_multiplier();
  const bool is_wide = weights.takes_wide_inputs();
  const QuantizedRows* kept = var.node_->quantized;
  if (kept && kept->multiplier == asked && kept->is_wide == is_wide) return *kept;
  const Index rows = var.rows(), cols = var.cols(), words = int8_words(cols);
  const ConstView x = var.value();
  // Non-negative inputs use only 7 of the 8 bits, so they fit one part.
  const bool is_split = asked && !is_wide && x.size() > 0 && x.minCoeff() < 0;
  const std::int32_t zero = is_split ? 127 : is_wide ? simd::wide_inputs().zero : 0;
  float multiplier = asked.value_or(0);
  if (asked == 0.0f) {
    const auto largest = x.size() > 0 ? static_cast<float>(x.cwiseAbs().maxCoeff()) : 0.0f;
    multiplier = largest > 0 ? 127 / largest : 1.0f;
  }
  auto* result = arena_.take<QuantizedRows>(1);
  const Index parts = is_split ? 2 : 1;
  *result = {rows,
             cols,
             arena_.take<std::int32_t>(rows * parts * words),
             arena_.take<float>(rows),
             arena_.take<std::int32_t>(rows),
             parts,
             asked,
             is_wide};
  for_rows(rows, cols, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Scalar* row = x.data() + i * cols;
      if (asked)
        result->zeros[i] = zero, quantize_row(row, *result, i, multiplier);
      else
        quantize_row(row, cols, result->words + i * words, result->scales[i], result->zeros[i]);
    }
  });
  var.node_->quantized = result;
  return *result;
}

GradientSlot Tape::gradient(Var var) {
  Var::Node& node = *var.node_;
  const bool fresh = node.gradient == nullptr;
  if (fresh) {
    const Index size = aligned(node.rows * node.cols);
    const auto piece = std::find_if(free_.begin(), free_.end(), [=](const Piece& p) { return p.size >= size; });
    node.gradient = piece == free_.end() ? arena_.take<Scalar>(size) : piece->memory;
    if (piece != free_.end()) *piece = {piece->memory + size, piece->size - size};
  }
  return {View(node.gradient, node.rows, node.cols), fresh};
}

GradientSlot Tape::gradient_over_value(Var var) {
  Var::Node& node = *var.node_;
  WASMFORMER_CHECK(!node.gradient, ErrorCode::gradient, "this " << shape(var) << " variable has other uses");
  node.gradient = node.value;
  return {View(node.gradient, node.rows, node.cols), true};
}

void Tape::backward(Var loss, FunctionRef<void(Index id)> passed, FunctionRef<void()> after_operation) {
  WASMFORMER_CHECK(recording_, ErrorCode::backward, "this tape does not record");
  WASMFORMER_CHECK(loss.rows() == 1 && loss.cols() == 1, ErrorCode::backward,
                   "the loss is " << shape(loss) << ", not [1, 1]");
  gradient(loss).view.setOnes();
  for (auto operation = operations_.rbegin(); operation != operations_.rend(); ++operation) {
    if (!operation->out) {
      if (passed) passed(operation->id);
      continue;
    }
    Var::Node& out = *operation->out;
    if (!out.gradient) continue;
    operation->run(operation->closure, {out.gradient, out.rows, out.cols});
    if (after_operation) after_operation();
    free_.push_back({std::exchange(out.gradient, nullptr), aligned(out.rows * out.cols)});
  }
  operations_.clear();
  free_.clear();
}

void Tape::clear() {
  operations_.clear();
  free_.clear();  // of a backward() that threw
  arena_.reset();
}

}  // namespace wasmformer
