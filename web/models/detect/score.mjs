// How often a detector is right, for each language, on whole texts and on windows of words.

const segmenters = new Map();

/** The parts of a text with one word each, with what stands around it. */
export function windowsOf(text, language, size) {
  if (!segmenters.has(language)) segmenters.set(language, new Intl.Segmenter(language, { granularity: 'word' }));
  const parts = [...segmenters.get(language).segment(text)];
  const words = parts.filter(({ isWordLike, segment }) => isWordLike && /\p{L}/u.test(segment));
  const windows = [];
  for (let i = 0; i + size <= words.length; i += size) {
    const last = words[i + size - 1];
    windows.push(text.slice(words[i].index, last.index + last.segment.length));
  }
  return windows;
}

/** Counts answers: `rows` are `{ language, sentences, windows }`. */
export class Score {
  #rows = new Map();
  #confusions = new Map();

  add(detector, language, kind, texts) {
    const row = this.#rows.get(language) ?? {};
    const counts = row[kind] ??= { right: 0, all: 0 };
    for (const text of texts) {
      const found = detector.detect(text)[0].language;
      counts.all += 1;
      if (found === language) counts.right += 1;
      else {
        const name = `${kind} of ${language} as ${found}`;
        this.#confusions.set(name, (this.#confusions.get(name) ?? 0) + 1);
      }
    }
    this.#rows.set(language, row);
  }

  /** The mean over languages of the share that is right. */
  mean(kind) {
    const counts = [...this.#rows.values()].map((row) => row[kind]).filter((found) => found?.all > 0);
    const shares = counts.map(({ right, all }) => right / all);
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  }

  /** The share of all that is right. */
  total(kind) {
    const rows = [...this.#rows.values()].map((row) => row[kind]).filter(Boolean);
    const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
    return { right: sum('right'), all: sum('all'), share: sum('right') / sum('all') };
  }

  print(kinds, most = 30) {
    const percent = (share) => `${(100 * share).toFixed(1)} %`.padStart(9);
    for (const [language, row] of this.#rows) {
      const cells = kinds.map((kind) => row[kind] ?? { right: 0, all: 0 })
        .map(({ right, all }) => `${percent(right / all)} of ${String(all).padEnd(6)}`);
      console.log(language.padEnd(8), ...cells);
    }
    for (const kind of kinds) {
      const { right, all, share } = this.total(kind);
      const mean = percent(this.mean(kind));
      console.log(`${kind}: mean over languages ${mean}; all together ${percent(share)} (${right} of ${all})`);
    }
    const order = [...this.#confusions].sort(([, a], [, b]) => b - a).slice(0, most);
    console.log(order.map(([name, count]) => `${count} ${name}`).join('\n'));
  }
}
