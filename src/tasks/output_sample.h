// The pieces of the target vocabulary that a training step scores instead of all (Jean et al. 2015, "On Using Very
// Large Target Vocabulary for Neural Machine Translation"). In a small model, a large part of a step's time goes into
// scoring pieces that are not targets of the batch.
#pragma once

#include "model/transformer.h"
#include "ops/cross_entropy.h"

namespace wasmformer {

struct OutputSample {
  std::vector<TokenId> pieces;  // each once: first those that are targets, ascending, then those that were drawn
  std::size_t wanted = 0;       // number of targets among them
  // Offsets added to the scores: 0 for targets; log n for a drawn piece that stands for n pieces, itself included. The
  // expected sum of exp(score) is then the sum over the targets and all pieces that can be drawn.
  std::vector<Scalar> offsets;
};

class OutputSampler {
 public:
  // `counts`: how often each piece is a target in training, by id; pieces with count 0 are not drawn. `size`: how many
  // pieces a sample has, unless the batch has more targets.
  OutputSampler(std::span<const Index> counts, Index size);
  // Draws the others uniformly, by the seed.
  OutputSample draw(std::span<const TokenId> targets, std::uint64_t seed) const;

 private:
  std::vector<TokenId> candidates_;  // ascending
  std::size_t size_;
};

// The cross-entropy of the pieces that follow these hidden states, [targets, d_model]: over the whole vocabulary, or
// over the sample if there is one, which label smoothing then spreads over. `total` as in ops/cross_entropy.h.
CrossEntropy loss_of_pieces(Tape& tape, const Transformer& transformer, Var hidden, std::span<const TokenId> targets,
                            const OutputSample* sample, double label_smoothing, double total);

}  // namespace wasmformer
