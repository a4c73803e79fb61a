// Differences between two texts, word by word or letter by letter.

export interface Part {
  text: string;
  changed: boolean;
}

/** Both texts in parts; what is in the longest common row of words is unchanged. */
export function compare(
  before: string,
  after: string,
  language?: string,
  granularity: 'word' | 'grapheme' = 'word',
): { before: Part[]; after: Part[] } {
  const segmenter = new Intl.Segmenter(language, { granularity });
  const [a, b] = [before, after].map((text) => Array.from(segmenter.segment(text), ({ segment }) => segment));
  // common[i][j]: the length of the longest common row of a from i and b from j
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const out = { before: [] as Part[], after: [] as Part[] };
  const add = (parts: Part[], text: string, changed: boolean) => {
    const last = parts.at(-1);
    if (last?.changed === changed) last.text += text;
    else parts.push({ text, changed });
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add(out.before, a[i++], false);
      add(out.after, b[j++], false);
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add(out.before, a[i++], true);
    else add(out.after, b[j++], true);
  }
  return out;
}
