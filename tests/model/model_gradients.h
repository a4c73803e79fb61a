// Gradients of a whole model, encoder and decoder, beside central differences.
#pragma once

#include "ops/cross_entropy.h"
#include "tests/model/small_model.h"
#include "tests/ops/central_differences.h"

namespace wasmformer {

// Checks every parameter in three pairs of sentences, one of them with an empty source and one with an empty target.
inline void check_model_gradients(Transformer& model) {
  model.enable_gradients();
  std::vector<Parameter*> parameters;
  model.visit([&](const ParameterInfo&, Parameter& p) { parameters.push_back(&p); });
  const Packed source = packed({{4, 5, 6, 3}, {3}, {6, 6, 3}});
  const Packed target = packed({{2, 7}, {2, 8, 4, 5, 7}, {2}});
  const std::vector<TokenId> expected{7, 3, 8, 4, 5, 7, 3, 3};
  check_gradients(
      {}, parameters,
      [&](Tape& tape, const std::vector<Var>&) {
        Var memory = model.encode(tape, source.ids, source.spans);
        Var hidden = model.decode(tape, target.ids, target.spans, memory, source.spans);
        return cross_entropy(tape, model.logits(tape, hidden), expected, 0.1).loss;
      },
      /*places=*/12);
}

}  // namespace wasmformer
