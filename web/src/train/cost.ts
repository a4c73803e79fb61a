// How long the run of a card will take on this computer, from how fast it trained before.
import { defaultsOf, isTask, type DataName, type Values } from './fields';

export const CHARACTERS = 40; // in the vocabulary of a task
/** A token's cost apart from matrix products, as parameters: a model five times as large takes 3.5 times as long. */
const BESIDES = 150_000;

/** About the numbers that a model is trained in. */
export function parametersOf(values: Values, vocabulary: number): number {
  const [width, inner, encoders, decoders] = [
    values.d_model,
    values.ffn_dim,
    values.encoder_layers,
    values.decoder_layers,
  ].map(Number);
  const feedForward = 2 * width * inner;
  return encoders * (4 * width ** 2 + feedForward) + decoders * (8 * width ** 2 + feedForward) + width * vocabulary;
}

/** Cost of steps, in parameters times tokens. */
export const costOf = (parameters: number, tokens: number, steps: number) => (parameters + BESIDES) * tokens * steps;

/** Cost of a card's run, in parameters times tokens. */
export function workOf(data: DataName): number {
  const values = defaultsOf({ data }, 0);
  const parameters = parametersOf(values, isTask(data) ? CHARACTERS : Number(values.vocab));
  return costOf(parameters, Number(values.batch_tokens), Number(values.steps));
}
