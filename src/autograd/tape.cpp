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
  *node = {.rows = rows,
           .cols = cols,
           .value = arena_.take<Scalar>(rows * cols),
           .gradient = nullptr,
           .wants_gradient = recording_ && wants_gradient,
           .keeps_gradient = false,
           .quantized = nullptr};
  return Var(node);
}

Var Tape::variable_over(Var var, bool wants_gradient) {
  auto* node = arena_.take<Var::Node>(1);
  *node = *var.node_;
  node->gradient = nullptr;
  node->keeps_gradient = false;
  node->quantized = nullptr;
  node->wants_gradient = recording_ && wants_gradient;
  return Var(node);
}

// Operations write only to what they have made, so that nothing writes to a constant.
Var Tape::constant(const Matrix& value) {
  auto* node = arena_.take<Var::Node>(1);
  *node = {.rows = value.rows(),
           .cols = value.cols(),
           .value = const_cast<Scalar*>(value.data()),
           .gradient = nullptr,
           .wants_gradient = false,
           .keeps_gradient = false,
           .quantized = nullptr};
  return Var(node);
}

const QuantizedRows& Tape::quantized(Var var, const PackedMatrix& weights) {
  const QuantizedRows* made = var.node_->quantized;
  if (made && made->suit(weights)) return *made;
  const ConstView x = var.value();
  const Index rows = x.rows(), cols = x.cols();
  const InputRounding rounding = input_rounding(x, weights);
  auto* result = arena_.take<QuantizedRows>(1);
  *result = {.rows = rows,
             .cols = cols,
             .words = arena_.take<std::int32_t>(rows * rounding.parts * int8_words(cols)),
             .scales = arena_.take<float>(rows),
             .zeros = arena_.take<std::int32_t>(rows),
             .parts = rounding.parts,
             .multiplier = weights.input_multiplier(),
             .is_wide = weights.takes_wide_inputs()};
  for_rows(rows, cols, [&](Index begin, Index end) { quantize_rows(x, rounding, *result, begin, end); });
  var.node_->quantized = result;
  return *result;
}

GradientSlot Tape::gradient(Var var) {
  Var::Node& node = *var.node_;
  const bool fresh = node.gradient == nullptr;
  if (fresh) {
    const Index size = aligned(node.rows * node.cols);
    const auto piece = std::find_if(free_.begin(), free_.end(), [=](const Piece& p) { return p.size >= size; });
    if (piece == free_.end()) {
      node.gradient = arena_.take<Scalar>(size);
    } else {
      node.gradient = piece->memory;
      *piece = {piece->memory + size, piece->size - size};
    }
  }
  return {View(node.gradient, node.rows, node.cols), fresh};
}

GradientSlot Tape::gradient_reusing_value(Var var) {
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
    if (out.keeps_gradient) continue;
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
