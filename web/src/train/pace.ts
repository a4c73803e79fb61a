// How long the run of a card will take on this computer, from how fast it trained before.
import { defaultsOf, isTask, SHIPPED_PAIRS, type DataName, type Values } from './fields';

const CHARACTERS = 40; // in the vocabulary of a task
const TOKENS = 9; // of a side of a pair that comes with the page

/** About the numbers that a model is trained in. */
function parametersOf(values: Values, vocabulary: number): number {
  const [width, inner, encoders, decoders] = [values.d_model, values.ffn_dim, values.encoder_layers, values.decoder_layers].map(Number);
  const feedForward = 2 * width * inner;
  return encoders * (4 * width ** 2 + feedForward) + decoders * (8 * width ** 2 + feedForward) + width * vocabulary;
}

/** Parameters times tokens of the batches of all steps. */
export function workOf(data: DataName): number {
  const values = defaultsOf({ data }, 0);
  if (!isTask(data)) return parametersOf(values, Number(values.vocab)) * Number(values.epochs) * SHIPPED_PAIRS * TOKENS;
  return parametersOf(values, CHARACTERS) * Number(values.steps) * Number(values.batch_tokens);
}
