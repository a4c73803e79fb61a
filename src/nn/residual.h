// The residual connections of figure 1, "Add & Norm" (Vaswani et al. 2017, section 3.1), with the norm after the sum,
// as in the paper, or before the sublayer (Xiong et al. 2020, "On Layer Normalization in the Transformer
// Architecture"), or, to show what they do, without the norm or without the sum.
#pragma once

#include <optional>

#include "autograd/tape.h"
#include "nn/layers.h"
#include "tensor/function_ref.h"

namespace wasmformer {

enum class NormPosition { post, pre, none };

// The stream through the sublayers of a stack: the sum of `x` and, if there is one, `addend`.
//
// A norm is computed in one pass with the sum before it (residual_norm of ops/layer_norm.h), which saves writing and
// reading all rows once. After a post-norm sublayer sum and norm belong together. After a pre-norm sublayer the norm
// of that sum is the next sublayer's, or the one at the end of the stack: until then the sum is not computed, and the
// output of the sublayer is the addend.
struct ResidualStream {
  Var x;                      // [tokens, d_model]
  std::optional<Var> addend;  // [tokens, d_model], before dropout; pre-norm only
  StackRecord* record = nullptr;
};

struct AddAndNorm {
  NormPosition position;
  bool residual;   // whether x is added to the output of a sublayer
  double dropout;  // rate for the output of each sublayer (section 5.4)

  AddAndNorm(NormPosition norm_position, bool has_residual, double dropout_rate)
      : position(norm_position), residual(has_residual), dropout(dropout_rate) {}

  // Post-norm: norm(x + dropout(sublayer(x))). Pre-norm: x + dropout(sublayer(norm(x))). Without a norm:
  // x + dropout(sublayer(x)). Without a residual connection "x +" is omitted. Without a norm `norm` is not read.
  ResidualStream operator()(Tape& tape, ResidualStream stream, const LayerNorm& norm,
                            FunctionRef<Var(Var)> sublayer) const;
  // The end of a stack, [tokens, d_model]: pre-norm stacks end with `norm`, others do not use it.
  Var output(Tape& tape, ResidualStream stream, const LayerNorm& norm) const;

 private:
  // The stream after a sublayer with output `y`; the sum may be left to the next norm.
  Var joined(Tape& tape, Var x, Var y, const LayerNorm& norm) const;
  // norm(x + dropout(addend)); the sum becomes x.
  Var normalized(Tape& tape, ResidualStream& stream, const LayerNorm& norm) const;
};

}  // namespace wasmformer
