// Keys and values of the tokens decoded so far, so that a step computes its own row only.
#pragma once

#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct Cache {
  struct Layer {
    Matrix keys, values;  // [slots · capacity, d_model], projected; slot i begins at row i · capacity
    Matrix cross_keys, cross_values;  // [memory rows, d_model], projected once by the first step
  };
  std::vector<Layer> layers;
  std::vector<Index> lengths;  // tokens in each slot; a slot is one hypothesis
  Index capacity = 0;          // tokens a slot can hold

  Cache(Index decoder_layers, Index slots, Index tokens, Index d_model);

  // Slot i becomes what slot parents[i] was; as many slots as parents remain.
  void select(const std::vector<Index>& parents);

 private:
  Matrix spare_;
};

}  // namespace wasmformer
