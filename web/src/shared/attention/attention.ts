// Pure functions over attention maps and pieces; nothing here knows the page.
import type { Candidate, TargetToken } from 'wasmformer';
import { breathe } from '../dom/save';

/** Probabilities, [layers, heads, rows, columns] row-major; each row sums to 1. */
export interface Maps {
  data: ArrayLike<number>;
  layers: number;
  heads: number;
  rows: number;
  columns: number;
}

export interface AttentionMap {
  data: Float32Array;
  rows: number;
  columns: number;
}

export type Head = number | 'mean';

/** A step (row), a source piece (column), or a cell (both). */
export interface Focus {
  row: number | null;
  column: number | null;
}

export const NOTHING: Focus = { row: null, column: null };

export const KINDS = ['encoder', 'decoder', 'cross'] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds of attention that a model has: a recurrent decoder has no self-attention. */
export const kindsOf = (attention: Partial<Record<Kind, Maps>>) => KINDS.filter((kind) => attention[kind]?.layers);

/** Map of one head, or the mean of several. */
export function selectMap(maps: Maps, layer: number, head: Head | readonly number[]): AttentionMap {
  const { heads, rows, columns } = maps;
  const size = rows * columns;
  const chosen = head === 'mean' ? Array.from({ length: heads }, (_, h) => h) : [head].flat();
  const data = new Float32Array(size);
  for (const h of chosen) {
    const start = (layer * heads + h) * size;
    for (let i = 0; i < size; ++i) data[i] += maps.data[start + i] / chosen.length;
  }
  return { data, rows, columns };
}

export const rowOf = ({ data, columns }: AttentionMap, row: number) =>
  data.subarray(row * columns, (row + 1) * columns);

/** The first rows and columns of a map: what is there by a step. */
export function corner(map: AttentionMap, rows: number, columns: number): AttentionMap {
  const data = new Float32Array(rows * columns);
  for (let r = 0; r < rows; ++r) data.set(rowOf(map, r).subarray(0, columns), r * columns);
  return { data, rows, columns };
}

/** The nearest layer and head that these maps have. */
export function within({ layers, heads }: Maps, layer: number, head: Head): { layer: number; head: Head } {
  return { layer: Math.min(layer, layers - 1), head: head !== 'mean' && head >= heads ? 'mean' : head };
}

export function strongestColumn(map: AttentionMap, row: number): number {
  const weights = rowOf(map, row);
  return weights.indexOf(Math.max(...weights));
}

export function strongestRow(map: AttentionMap, column: number): number {
  let best = 0;
  for (let r = 1; r < map.rows; ++r) {
    if (map.data[r * map.columns + column] > map.data[best * map.columns + column]) best = r;
  }
  return best;
}

/** Shannon's entropy of a row in bits: 0 when all lies on one piece, log2(columns) when it is spread evenly. */
export function entropy(map: AttentionMap, row: number): number {
  let bits = 0;
  for (let i = row * map.columns; i < (row + 1) * map.columns; ++i) {
    if (map.data[i] > 0) bits -= map.data[i] * Math.log2(map.data[i]);
  }
  return bits;
}

export interface BestHead {
  layer: number;
  head: number;
  share: number;
}

/**
 * The head that aligns best with an experiment: `effects` says how much less probable (in nats) each row's piece became
 * when the column's was hidden. A head's share is the mean attention of its rows on the column with the greatest
 * effect; rows without any effect, of at least `least`, do not count. Null when no row counts.
 */
export function bestAligned(maps: Maps, effects: AttentionMap, least = 0.1): BestHead | null {
  const pairs: [number, number][] = [];
  for (let row = 0; row < effects.rows; ++row) {
    const column = strongestColumn(effects, row);
    if (effects.data[row * effects.columns + column] >= least) pairs.push([row, column]);
  }
  if (pairs.length === 0) return null;
  let best: BestHead = { layer: 0, head: 0, share: -1 };
  for (let layer = 0; layer < maps.layers; ++layer) {
    for (let head = 0; head < maps.heads; ++head) {
      const { data, columns } = selectMap(maps, layer, head);
      const share = pairs.reduce((sum, [row, column]) => sum + data[row * columns + column], 0) / pairs.length;
      if (share > best.share) best = { layer, head, share };
    }
  }
  return best;
}

export const BEGIN_PIECE = '<s>';
export const END_PIECE = '</s>';

/** Pieces that the decoder reads: the begin mark, and all target pieces but the last. */
export const readPieces = (target: readonly string[]) => [BEGIN_PIECE, ...target.slice(0, -1)];

export interface Likely extends Candidate {
  share: number;
  chosen: boolean;
}

/** The most probable pieces of a step, and always the chosen one, which may have been forced. */
export function likely(token: TargetToken, most = Infinity): Likely[] {
  const top = (token.top ?? []).slice(0, most);
  const all = top.some(({ id }) => id === token.id) ? top : [...top.slice(0, most - 1), token];
  return all.map(({ piece, id, logProbability }) => ({
    piece,
    id,
    logProbability,
    share: Math.exp(logProbability),
    chosen: id === token.id,
  }));
}

/** A piece as people read it: without SentencePiece's marker ▁, which starts a word. */
export function surface(piece: string): string {
  return piece.replaceAll('▁', ' ').trim();
}

const SPECIAL = { [BEGIN_PIECE]: 'begin', [END_PIECE]: 'end', '<unk>': 'unknown' } as const;

/** Name of a piece; `word` names the special ones. */
export function nameOf(piece: string, word: (key: 'begin' | 'end' | 'unknown') => string): string {
  const key = SPECIAL[piece as keyof typeof SPECIAL];
  return key ? word(key) : surface(piece) || '␣';
}

export function startsWord(piece: string): boolean {
  return piece.startsWith('▁');
}

export interface Segment {
  text: string;
  token: number | null;
}

/**
 * Cuts `text` into the stretches its pieces cover; together the segments are `text`. The tokenizer folds characters
 * (NFKC) and may not know some: what lies between two pieces that were found belongs to the unknown one there.
 */
export function segments(text: string, pieces: readonly string[]): Segment[] {
  let folded = '';
  const origin: number[] = []; // index into text, for every character of `folded`
  let offset = 0;
  for (const char of text) {
    const plain = char.normalize('NFKC');
    for (let i = 0; i < plain.length; ++i) origin.push(offset);
    folded += plain;
    offset += char.length;
  }
  origin.push(text.length);

  const out: Segment[] = [];
  let done = 0; // everything before this index of text is in `out`
  const emit = (begin: number, end: number, token: number | null) => {
    if (begin > done) out.push({ text: text.slice(done, begin), token: null });
    if (end > begin) out.push({ text: text.slice(begin, end), token });
    done = Math.max(done, end);
  };

  let cursor = 0;
  let unknown: number | null = null;
  pieces.forEach((piece, token) => {
    const wanted = surface(piece);
    if (wanted === '' || piece === END_PIECE) return;
    const found = folded.indexOf(wanted, cursor);
    const gap = found < 0 ? '' : folded.slice(cursor, found);
    const isBehindKept = cursor === 0; // signs before the first piece may have bypassed the model
    if (found < 0 || (gap.trim() !== '' && unknown === null && !isBehindKept)) {
      unknown = token;
      return;
    }
    if (gap.trim() !== '') {
      const from = cursor + (gap.length - gap.trimStart().length);
      emit(origin[from], origin[cursor + gap.trimEnd().length], unknown);
    }
    unknown = null;
    cursor = found + wanted.length;
    emit(origin[found], origin[cursor], token);
  });
  const rest = text.slice(done);
  if (unknown !== null && rest.trim() !== '') {
    emit(done + (rest.length - rest.trimStart().length), done + rest.trimEnd().length, unknown);
  }
  emit(text.length, text.length, null);
  return out;
}

/** Every map of a translation as JSON, in the form of `wasmformer translate --attention`; written map by map. */
export async function attentionFile(shown: {
  text: string;
  sourceTokens: readonly { piece: string }[];
  targetTokens: readonly { piece: string }[];
  attention: Record<Kind, Maps>;
}): Promise<Blob> {
  const pieces = (tokens: readonly { piece: string }[]) => JSON.stringify(tokens.map((token) => token.piece));
  const parts: BlobPart[] = ['[{'];
  for (const kind of KINDS) {
    const { layers, heads, rows, columns, data } = shown.attention[kind];
    parts.push(`"${kind}":{"layers":${layers},"heads":${heads},"rows":${rows},"columns":${columns},"data":[`);
    const size = rows * columns;
    for (let map = 0; map < layers * heads; ++map) {
      const numbers = Array.from({ length: size }, (_, i) => Math.round(data[map * size + i] * 1e6) / 1e6);
      parts.push(new Blob([map > 0 ? ',' : '', numbers.join()]));
      await breathe();
    }
    parts.push(']},');
  }
  parts.push(
    `"source_tokens":${pieces(shown.sourceTokens)},"target_tokens":${pieces(shown.targetTokens)},"text":${JSON.stringify(shown.text)}}]\n`,
  );
  return new Blob(parts, { type: 'application/json' });
}
