// How long a training step takes in this tab, by the length of the sentence; and how many of its parts wait for each other.
import { Trainer } from 'wasmformer';
import { LAYERS, WIDTH } from './waiting';

const [INNER, HEADS] = [256, 4];
const [WARM, LASTS] = [0.15, 0.6]; // seconds: of the beginning, which is slower, and of all
const PAIRS = 8; // different ones, each a batch of its own
const LETTERS = 'abcdefghijklmnop';

export interface Measured {
  tokens: number;
  milliseconds: number;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** A sentence of so many tokens, the end token included: one for each letter. */
const letters = (tokens: number, seed: number) =>
  Array.from({ length: tokens - 1 }, (_, i) => LETTERS[(i * (seed + 1) + seed) % LETTERS.length]).join('');

/** Trains a Transformer on pairs of `tokens` tokens each, one pair a step; returns the time of a step, the median. */
export async function timeOf(tokens: number, signal?: AbortSignal): Promise<Measured> {
  const pairs = Array.from({ length: PAIRS }, (_, i) => [letters(tokens, i), letters(tokens, i + PAIRS)] as const);
  const config = {
    d_model: WIDTH,
    ffn_dim: INNER,
    num_heads: HEADS,
    encoder_layers: LAYERS,
    decoder_layers: LAYERS,
    max_length: tokens,
    batch_tokens: tokens, // one pair
  };
  const trainer = await Trainer.create({ pairs, validation: 0, tokenizer: { type: 'char' }, config, signal });
  try {
    const times: number[] = [];
    let before = Infinity;
    for await (const { seconds } of trainer.run({ reportEvery: 1, samples: 0, signal })) {
      if (before > WARM && before < Infinity) times.push(seconds - before);
      before = seconds;
      if (seconds >= LASTS && times.length > 0) return { tokens, milliseconds: 1000 * median(times) };
    }
    throw new Error('a run without a goal has ended');
  } finally {
    trainer.dispose();
  }
}
