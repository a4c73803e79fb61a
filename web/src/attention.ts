// Pure functions over attention maps and pieces; nothing here knows the page.

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

export function selectMap(maps: Maps, layer: number, head: Head): AttentionMap {
  const { heads, rows, columns } = maps;
  const size = rows * columns;
  const chosen = head === 'mean' ? Array.from({ length: heads }, (_, h) => h) : [head];
  const data = new Float32Array(size);
  for (const h of chosen) {
    const start = (layer * heads + h) * size;
    for (let i = 0; i < size; ++i) data[i] += maps.data[start + i] / chosen.length;
  }
  return { data, rows, columns };
}

export function strongestColumn(map: AttentionMap, row: number): number {
  const weights = map.data.subarray(row * map.columns, (row + 1) * map.columns);
  return weights.indexOf(Math.max(...weights));
}

export function strongestRow(map: AttentionMap, column: number): number {
  let best = 0;
  for (let r = 1; r < map.rows; ++r) {
    if (map.data[r * map.columns + column] > map.data[best * map.columns + column]) best = r;
  }
  return best;
}

export const END_PIECE = '</s>';

/** A piece as people read it: without SentencePiece's marker ▁, which starts a word. */
export function surface(piece: string): string {
  return piece.replaceAll('▁', ' ').trim();
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
    if (found < 0 || (gap.trim() !== '' && unknown === null)) {
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
