// A linear-chain conditional random field (Lafferty, McCallum and Pereira 2001): the score of a tag sequence is
// the sum of its words' scores and of a transition score for each pair of neighbors.
#pragma once

#include "autograd/parameter.h"
#include "ops/cross_entropy.h"

namespace wasmformer {

// scores: [words, tags] of one sentence; transitions: [tags, tags], a row for each previous tag. Returns the
// probability of each tag for each word, [words, tags].
Matrix crf_probabilities(ConstView scores, ConstView transitions);

// scores: [n, tags]; transitions: [tags, tags]; each span of `targets` is a sentence, and the spans cover all n words.
// The negative log-likelihood of the targets, summed and divided by `total` or, if that is 0, by n. Throws Error for
// other shapes and unknown targets.
CrossEntropy crf_loss(Tape& tape, Var scores, const Parameter& transitions, std::span<const TokenId> targets,
                      std::span<const Span> spans, double total);

}  // namespace wasmformer
