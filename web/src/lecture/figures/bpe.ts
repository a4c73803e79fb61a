// Byte-pair encoding (Sennrich et al. 2016): the pair of symbols that is seen most often becomes one symbol.
export const END = '·'; // the end of a word
export type Pair = readonly [string, string];

const key = ([left, right]: Pair) => `${left} ${right}`;
const symbolsOf = (word: string) => [...word, END];

/** Words of a text and how often each is there. */
export function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function merged(symbols: readonly string[], pair: Pair): string[] {
  const done: string[] = [];
  for (let at = 0; at < symbols.length; at++) {
    const isPair = symbols[at] === pair[0] && symbols[at + 1] === pair[1];
    done.push(isPair ? pair.join('') : symbols[at]);
    if (isPair) at += 1;
  }
  return done;
}

function mostFrequent(words: readonly (readonly [readonly string[], number])[]): Pair | null {
  const seen = new Map<string, { pair: Pair; count: number }>();
  for (const [symbols, count] of words) {
    for (let at = 1; at < symbols.length; at++) {
      const pair = [symbols[at - 1], symbols[at]] as const;
      const entry = seen.get(key(pair)) ?? { pair, count: 0 };
      entry.count += count;
      seen.set(key(pair), entry);
    }
  }
  let best: { pair: Pair; count: number } | null = null;
  for (const entry of seen.values()) if (entry.count > 1 && entry.count > (best?.count ?? 0)) best = entry;
  return best?.pair ?? null;
}

/** The first `most` merges of a text; of pairs seen equally often, the one seen first. */
export function learn(counts: ReadonlyMap<string, number>, most: number): Pair[] {
  let words = [...counts].map(([word, count]) => [symbolsOf(word), count] as const);
  const merges: Pair[] = [];
  while (merges.length < most) {
    const pair = mostFrequent(words);
    if (!pair) break;
    merges.push(pair);
    words = words.map(([symbols, count]) => [merged(symbols, pair), count] as const);
  }
  return merges;
}

/** A word after none, one, two … of the merges that change it. */
export function steps(word: string, merges: readonly Pair[]): { symbols: string[]; merge: number }[] {
  const all = [{ symbols: symbolsOf(word.toLowerCase()), merge: -1 }];
  for (const [merge, pair] of merges.entries()) {
    const symbols = merged(all[all.length - 1].symbols, pair);
    if (symbols.length < all[all.length - 1].symbols.length) all.push({ symbols, merge });
  }
  return all;
}
