// Steps of training that cannot begin before another one has ended, forwards and then backwards.

/** Sizes of the Transformer that is measured: layers of each stack, features of a token, and lengths of sentences. */
export const [LAYERS, WIDTH] = [2, 64];
export const LENGTHS = [8, 16, 32, 64, 128, 256] as const;

const DIRECTIONS = 2; // forwards, then backwards for the gradient
const SUBLAYERS = 2 + 3; // of an encoder layer and a decoder layer

/** A Transformer goes through its sublayers, each with all tokens at once. */
export const ofTransformer = (layers: number) => DIRECTIONS * SUBLAYERS * layers;
/** An LSTM that reads `tokens` tokens and then writes as many goes through both sentences token by token. */
export const ofLstm = (tokens: number) => DIRECTIONS * 2 * tokens;
