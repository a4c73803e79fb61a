// Values of the source's variables in the visitor's sentence: for one token, the row of the model's matrix.
import type { Matrix, TranslatorInfo } from 'wasmformer';
import { stackInput } from '../arithmetic';
import { attentionAt, hiddenAt, residualAt, stackOf, type Inside } from '../numbers';
import { isAttention, type Place, type Sizes } from '../place';
import type { Mark } from './source';

export interface Live {
  at: Required<Mark>; // below the first line that has it
  name: string; // of the value, in the words of the source
  row: Float32Array;
}

const rowOf = ({ data, columns }: Matrix, row: number) => data.subarray(row * columns, (row + 1) * columns);
const live = (name: string, having: string, value: string, row: Float32Array): Live =>
  ({ at: { name, having }, name: value, row });

/** Columns of one head. */
function partOf(row: Float32Array, heads: number, head: number) {
  const width = row.length / heads;
  return row.subarray(head * width, (head + 1) * width);
}

function ofAttention(result: Inside, place: Place, sizes: Sizes, row: number): Live[] {
  const { internals, maps } = attentionAt(result, place);
  const head = place.head ?? 0;
  const weights = maps.map(place.layer!, head).subarray(row * maps.columns, (row + 1) * maps.columns);
  const strongest = weights.indexOf(Math.max(...weights)); // the key that the query attends to most
  const ofHead = (matrix: Matrix, at: number) => partOf(rowOf(matrix, at), sizes.heads, head);
  const call = 'return attention(';
  return [
    live('Head', call, 'Q * W_Q', ofHead(internals.queries, row)),
    live('Head', call, `K * W_K, row ${strongest + 1}`, ofHead(internals.keys, strongest)),
    live('Head', call, `V * W_V, row ${strongest + 1}`, ofHead(internals.values, strongest)),
    live('attention', 'return softmax(', 'softmax(scores)', Float32Array.from(weights)),
    live('MultiHeadAttention', 'Var concat', 'concat', rowOf(internals.output, row)),
    live('MultiHeadAttention', 'return concat', 'concat * W_O', rowOf(internals.projected, row)),
  ];
}

function ofEmbedding(result: Inside, place: Place, row: number): Live[] {
  const stack = stackOf(result, place);
  return [
    live('embedding', 'return times(', 'rows * sqrt(d_model)', rowOf(stack.tokenEmbedding, row)),
    live('positional_encoding', 'return', 'PE', rowOf(stack.positions, row)),
    live('Transformer', 'embedding(E', 'embedding + PE', rowOf(stackInput(stack), row)),
  ];
}

/** Probability of the token that was chosen, as the softmax gives it. */
const probabilityOf = ({ targetTokens }: Inside, row: number) => Math.exp(targetTokens[row].logProbability);

/** Values beside the lines of a place, of the token in row `row`. */
export function liveOf(result: Inside, place: Place, sizes: Sizes, { norm }: TranslatorInfo['config'], row: number): Live[] {
  const { part, stack } = place;
  if (!part || part === 'beam') return [];
  if (stack === 'out') return [live('Transformer', 'return softmax(', 'p', Float32Array.of(probabilityOf(result, row)))];
  if (part === 'embed') return ofEmbedding(result, place, row);
  if (isAttention(place, sizes)) return ofAttention(result, place, sizes, row);
  const hasNumbers = place.layer !== undefined && (part === 'ffn' || part.endsWith('Norm'));
  if (!hasNumbers) return [];
  const { added, after } = residualAt(result, place);
  const call = 'return';
  if (part === 'ffn') {
    const hidden = rowOf(hiddenAt(result, place), row);
    return [live('FeedForward', call, 'relu(x * W_1 + b_1)', hidden), live('FeedForward', call, 'FFN(x)', rowOf(added, row))];
  }
  return norm === 'post' ? [live('LayerNorm', call, 'LayerNorm(x + Sublayer(x))', rowOf(after, row))] : [];
}
