// Students whose weights are random but for one thing: they end each translation where its sentence says. A sentence's last
// piece is a mark that names a length, and attention of the decoder's last layer compares it with the position: the sine
// waves of both are multiplied, and the product is largest where they are equal. So every engine writes the same lengths
// by itself, in batches too, with its own way of ending a sentence.
import { weights } from './data.mjs';

export const [end, unknown] = [0, 1];
export const longest = 255; // fxtranslate writes at most 256 tokens
const firstMark = 0xe000;

/** The piece that ends a sentence whose translation has `length` tokens, the end token counted. */
export const mark = (length) => String.fromCodePoint(firstMark + length);

/** Marian's positions: first all sines, then all cosines. */
export function positions({ d }, count) {
  const half = d / 2;
  return Float32Array.from({ length: count * d }, (_, i) => {
    const angle = Math.floor(i / d) * 10000 ** (-(i % half) / (half - 1));
    return i % d < half ? Math.sin(angle) : Math.cos(angle);
  });
}

// Columns of the hidden state that only this mechanism writes. Their waves are the shortest ones, those of the others so
// long that they are always 0 or, in `one`, 1.
function columnsOf({ d }) {
  const half = d / 2;
  const waves = Array.from({ length: 8 }, (_, i) => Math.round((i * half) / 128));
  return {
    code: [...waves, ...waves.map((i) => half + i)],
    zero: half - 1, // what the normalization subtracts from all columns
    one: d - 1,
    marked: half - 2,
    // What says that the end has come, and what it is compared with. No neighbors: Bergamot adds pairs in 16 bits.
    ends: Array.from({ length: 6 }, (_, i) => half - 4 - 4 * i),
    others: Array.from({ length: 6 }, (_, i) => half - 6 - 4 * i),
  };
}

const all = ({ code, zero, one, marked, ends, others }) => [...code, zero, one, marked, ...ends, ...others];

// The normalizations divide by about these numbers, since random sublayers add as much again: what keeps the columns' size.
const growth = {
  'encoder self_attn_layer_norm': 1.35, 'decoder self_attn_layer_norm': 1.1, 'decoder encoder_attn_layer_norm': 1.3,
  'encoder final_layer_norm': 1.2, 'decoder final_layer_norm': 1.2,
};
const amplitude = 32; // of a mark's waves, beside 1 of the positions'
const contrast = 3; // of the embedding: makes the positions' waves small beside it
const threshold = 0.83; // of the product at the right position; one position beside it, that is at most 0.7
const sharpness = 7;

const entry = ({ shape: [, cols], data }, row, col, value) => { data[row * cols + col] = value; };

function clear({ shape: [, width = 1], data }, rows) {
  for (const row of rows) data.fill(0, row * width, (row + 1) * width);
}

// Rows of the embedding: a mark names its length, the end token is what the last layer says when it has come. The others
// lose the mean of the positions, or the normalizations would move our columns.
function embed(shape, table, columns, pieces) {
  const { d, vocabulary } = shape;
  const waves = positions(shape, longest);
  const own = new Set(all(columns));
  const means = Float32Array.from({ length: d }, (_, col) =>
    Array.from({ length: 64 }, (_, at) => waves[at * d + col] / 64).reduce((a, b) => a + b));
  for (let i = 0; i < vocabulary * d; i++) {
    table.data[i] = own.has(i % d) ? 0 : contrast * table.data[i] - means[i % d] / Math.sqrt(d);
  }
  const value = amplitude / Math.sqrt(d);
  for (let length = 1; length <= longest; length++) {
    const id = pieces.indexOf(mark(length));
    for (const col of columns.code) entry(table, id, col, value * waves[(length - 1) * d + col]);
    entry(table, id, columns.marked, value);
  }
  clear(table, [end, unknown]);
  for (const col of columns.ends) entry(table, end, col, 1);
  for (const col of columns.others) entry(table, end, col, -1);
  entry(table, end, columns.marked, value); // or its own position might be compared
}

// The first head of the decoder's last attention to the source.
function compare({ d, heads }, part, { code, zero, one, marked, ends }) {
  const size = d / heads;
  const rows = Array.from({ length: size }, (_, i) => i);
  for (const name of ['q_proj', 'k_proj', 'v_proj']) {
    clear(part(`${name}.weight`), rows);
    clear(part(`${name}.bias`), rows);
  }
  const product = (name, row, col, value) => {
    entry(part(`${name}.weight`), row, col, value);
    entry(part(`${name}.weight`), row, zero, -value);
  };
  const limit = (-threshold * (code.length / 2) * sharpness) / (size - code.length);
  for (const row of rows) {
    product('q_proj', row, code[row] ?? one, sharpness);
    if (row < code.length) product('k_proj', row, code[row], sharpness);
    else product('k_proj', row, marked, limit);
    product('v_proj', row, marked, 0.5);
    for (const col of ends) entry(part('out_proj.weight'), col, row, 0.12);
  }
}

// The random sublayers write to other columns, and no more than they read: 8 bits would cut it.
function restrain(tensors, columns) {
  for (const [name, tensor] of tensors) {
    if (/v_proj\.weight$/.test(name)) tensor.data.forEach((value, i) => { tensor.data[i] = value / 4; });
    if (/(out_proj|fc2|decoder.*self_attn\.v_proj)\.(weight|bias)$/.test(name)) clear(tensor, all(columns));
  }
}

// The normalizations keep what the encoder says of marks and what the decoder says of positions as large as they are.
function normalize({ decoderLayers }, tensors, columns) {
  const { code, zero, one, marked, ends, others } = columns;
  const said = { encoder: [...code, zero, one, marked], decoder: [...code, zero, one] };
  const set = (name, cols, value) => { for (const col of cols) tensors.get(name).data[col] = value; };
  for (const name of tensors.keys()) {
    const [, side, norm] = name.match(/(\w+)\.layers\.\d+\.(\w+_layer_norm)\.weight$/) ?? [];
    if (!norm) continue;
    set(name, all(columns), 0);
    set(name, said[side], growth[`${side} ${norm}`]);
  }
  for (let i = 0; i < decoderLayers; i++) {
    // The recurrent cell's output is never negative: the normalization after it takes something from all columns.
    set(`model.decoder.layers.${i}.self_attn_layer_norm.bias`, said.decoder, 0.3);
  }
  set('model.decoder.layers.0.self_attn_layer_norm.weight', said.decoder, 2 * contrast * growth['decoder self_attn_layer_norm']);
  for (const norm of ['encoder_attn_layer_norm', 'final_layer_norm']) {
    set(`model.decoder.layers.${decoderLayers - 1}.${norm}.weight`, [...ends, ...others], 3);
  }
}

/** The tensors of data.mjs's weights(); `pieces` are the vocabulary's, of which only whole words are written. */
export function endingWeights(shape, pieces) {
  const tensors = weights(shape);
  const columns = columnsOf(shape);
  embed(shape, tensors.get('model.shared.weight'), columns, pieces);
  restrain(tensors, columns);
  normalize(shape, tensors, columns);
  const attention = `model.decoder.layers.${shape.decoderLayers - 1}.encoder_attn`;
  compare(shape, (name) => tensors.get(`${attention}.${name}`), columns);
  const isWritten = (piece, id) => id === end || /^\u2581./.test(piece);
  tensors.get('final_logits_bias').data.set(pieces.map((piece, id) => (isWritten(piece, id) ? 0 : -1e4)));
  return tensors;
}
