// Label-smoothed cross-entropy (Szegedy et al. 2016; Vaswani et al. 2017, section 5.4), for one class per row or
// for several, and the sum of such losses. In plain loops: cross_entropy_reference.h.
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

struct CrossEntropy {
  Var loss;    // [1, 1], mean over the rows: (1 - smoothing) (-log p[y]) + smoothing mean_c(-log p[c])
  double nll;  // mean of -log p[y]
  // -log p[y] of each row, valid as long as the variables; cross_entropy() only.
  std::span<const double> row_nll = {};
};

// logits: [n, V]; targets: n ids; weights: one per id, or none for 1 each: rows are weighted by
// their target's weight. `total` is the divisor (for a part of a batch, the weight of the whole); 0 uses these rows.
// Recording overwrites the logits with their gradient.
CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing,
                           std::span<const double> weights = {}, double total = 0);

// Each id independently, p = sigmoid(logit). targets: row i has the ids targets[spans[i]], which may be none. The loss
// is the mean over rows of the sum over ids, with targets smoothed to (1 - smoothing) t + smoothing / 2; `nll` is the
// same without smoothing. `total`: as above, in rows.
CrossEntropy binary_cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, std::span<const Span> spans,
                                  double smoothing, double total = 0);

// a + weight b, of [1, 1] each.
Var weighted_sum(Tape& tape, Var a, Var b, double weight);

}  // namespace wasmformer
