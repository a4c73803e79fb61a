// Figure 1 backwards: how much the loss of a right answer depends on the output of every box (Vaswani et al. 2017,
// sections 3.1 to 3.5). The gradient starts at the output projection and flows down the decoder and, through
// cross-attention, down the encoder; residual connections carry it past the sublayers.
#pragma once

#include <span>
#include <vector>

#include "model/transformer.h"

namespace wasmformer {

// Boxes of figure 1. A norm belongs to the sublayer that it follows or, with pre-norm, precedes.
enum class FigurePart {
  embedding,  // with positions, sections 3.4 and 3.5
  self_attention,
  self_attention_norm,
  cross_attention,
  cross_attention_norm,
  feed_forward,  // section 3.3
  feed_forward_norm,
  output_norm,  // at the end of a pre-norm stack
  output        // the linear layer below the softmax, section 3.4
};

// Norms are Euclidean. The gradient of a box is that of the loss with respect to the output of the box; for an
// attention that is after W^O, for its heads before (section 3.2.2). A recurrent unit has no heads.
struct BoxGradient {
  Stack stack = Stack::heads;  // heads: the output projection
  Index layer = no_layer;
  FigurePart part = FigurePart::output;
  double norm = 0;            // of all tokens
  double parameter_norm = 0;  // of the gradient of its parameters; shared ones count in each box that reads them
  std::vector<float> tokens;  // [tokens]: the norm of each token's gradient
  std::vector<float> heads;   // [tokens, heads]: the same by head; empty without heads
};

struct BackwardPass {
  double loss = 0;                 // mean of `losses`, which the gradients are of; without label smoothing
  std::vector<float> losses;       // [target tokens]: -log p of each
  double parameter_norm = 0;       // of the gradient of all parameters
  std::vector<BoxGradient> boxes;  // upwards: encoder, decoder, output
};

// Forward and backward for one pair of sentences. `source` and `target` end with the end token. The parameters'
// gradients are set to those of this pair. The model must have gradients (enable_gradients()) and no dropout; `tape`
// must record. Throws Error as encode() and decode(), and for an empty target.
BackwardPass backward_pass(Transformer& model, Tape& tape, std::span<const TokenId> source,
                           std::span<const TokenId> target);

}  // namespace wasmformer
