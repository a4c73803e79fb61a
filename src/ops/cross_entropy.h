// Label-smoothed cross-entropy (Szegedy et al. 2016; Vaswani et al. 2017, section 5.4), and with it R-Drop
// (Liang et al. 2021): what two passes with other dropout say of the same token is drawn together.
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

struct CrossEntropy {
  Var loss;    // [1, 1], mean over the rows: (1 - smoothing) (-log p[y]) + smoothing mean_c(-log p[c])
  double nll;  // mean of -log p[y]
};

// logits: [n, V]; targets: n ids. Recording overwrites the logits with their gradient. With r_drop > 0, n is
// even, rows i and i + n/2 are of the same token, and the loss has r_drop/n Σ_i (KL(p_i, q_i) + KL(q_i,
// p_i))/2 besides, where p_i, q_i are the probabilities of these rows.
CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing,
                           double r_drop = 0);

}  // namespace wasmformer
