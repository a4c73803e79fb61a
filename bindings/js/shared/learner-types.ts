// The public types of figure 1 backwards. Losses are in nats; norms are Euclidean.
import type { SourceToken } from './types.js';

/** Boxes of figure 1 of the paper; a norm has the name of the sublayer that it follows or, with norm 'pre', precedes. */
export type FigurePart =
  | 'embedding'
  | 'selfAttention'
  | 'selfAttentionNorm'
  | 'crossAttention'
  | 'crossAttentionNorm'
  | 'feedForward'
  | 'feedForwardNorm'
  | 'outputNorm'
  | 'output';

/** How much the loss depends on a box: the gradient of the loss with respect to the box's output. */
export interface BoxGradient {
  /** 'output': the linear layer below the softmax. */
  stack: 'encoder' | 'decoder' | 'output';
  part: FigurePart;
  /** From 0; missing outside of the layers. */
  layer?: number;
  /** The norm of the gradient, all tokens together. */
  norm: number;
  /** The norm of each token's gradient: of the source in the encoder, else of the target. */
  tokens: Float32Array;
  /** [tokens, heads]: the norm of the gradient of each head's output, before W^O; empty without heads. */
  heads: Float32Array;
  /** The norm of the gradient of the box's parameters. A matrix that several boxes share counts in each. */
  parameterNorm: number;
}

/** The loss of a right answer, and what it depends on. */
export interface BackwardPass {
  /** The mean of `losses`; all gradients are those of this mean. */
  loss: number;
  /** Negative logarithm of the probability of each target token. */
  losses: Float32Array;
  /** The end token last. */
  sourceTokens: SourceToken[];
  targetTokens: SourceToken[];
  /** From the bottom of figure 1: the encoder's, the decoder's, the output. */
  boxes: BoxGradient[];
  /** The norm of the gradient of all parameters. */
  parameterNorm: number;
}

export interface LearnOptions {
  /** The rate of gradient descent: each weight w becomes w - learningRate · ∂loss/∂w. Default 0.05. */
  learningRate?: number | undefined;
  /** Rejects with the signal's reason; a step that has begun is still finished. */
  signal?: AbortSignal | undefined;
}
