// Label-smoothed cross-entropy (Szegedy et al. 2016; Vaswani et al. 2017, section 5.4).
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

struct CrossEntropy {
  Var loss;    // [1, 1], mean over the rows: (1 - smoothing) (-log p[y]) + smoothing mean_c(-log p[c])
  double nll;  // mean of -log p[y]
};

// logits: [n, V]; targets: n ids. Recording overwrites the logits with their gradient.
CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing);

}  // namespace wasmformer
