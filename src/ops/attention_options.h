// Options of all kinds of attention (attention.h, additive_attention.h).
#pragma once

#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct AttentionOptions {
  Index heads = 1;
  bool causal = false;  // the last query sees all keys of its sentence, the one before all but one, ...
  double dropout = 0;   // rate at which probabilities are dropped
  bool scaled = true;   // scores are divided by √d_k
  // Gets, unless null, one matrix per sentence, [heads · rows, columns].
  std::vector<Matrix>* probabilities = nullptr;
  // Rows of keys: if given, key j of sentence i is row key_rows[key_spans[i].begin + j] of k and v, so that beams share
  // rows of a cache. Not while recording.
  std::span<const std::int32_t> key_rows = {};
};

}  // namespace wasmformer
