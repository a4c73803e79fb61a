// A small dictionary from sentence pairs: words that mostly stand beside each other.
const segmenters = new Map();
function wordsOf(text, language) {
  if (language !== 'zh') return [...new Set(text.match(/[\p{L}-]{2,}/gu) ?? [])];
  if (!segmenters.has(language)) segmenters.set(language, new Intl.Segmenter(language, { granularity: 'word' }));
  const segments = [...segmenters.get(language).segment(text)];
  return [...new Set(segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment))];
}

function increment(map, word) {
  map.set(word, (map.get(word) ?? 0) + 1);
}

/** The first word of a sentence has a capital for its place: only the other words count. */
const small = (words, text) => words.filter((word) => !text.startsWith(word));

/** How often words of each side, and pairs of them, stand in sentences. */
function countWords(pairs, language) {
  const english = new Map(), other = new Map(), both = new Map();
  for (const pair of pairs) {
    const own = small(wordsOf(pair[0], 'en'), pair[0]);
    const words = wordsOf(pair[1], language);
    const theirs = language === 'zh' ? words : small(words, pair[1]);
    for (const word of own) increment(english, word);
    for (const word of theirs) increment(other, word);
    for (const pairOfWords of own.flatMap((one) => theirs.map((two) => `${one}\t${two}`))) increment(both, pairOfWords);
  }
  return { english, other, both };
}

/**
 * Pairs [english, other] of words of which each is the other's best partner, in at least `least` of the sentences that
 * have either, and in at least `count` sentences.
 */
export function lexicon(pairs, language, { least = 0.5, count = 4 } = {}) {
  const { english, other, both } = countWords(pairs, language);
  const best = new Map();
  const take = (side, words, share) => {
    if (share > (best.get(side)?.share ?? 0)) best.set(side, { words, share });
  };
  for (const [words, shared] of both) {
    const [one, two] = words.split('\t');
    const share = 2 * shared / (english.get(one) + other.get(two));
    if (shared < count || share < least) continue;
    take(`en ${one}`, words, share);
    take(`other ${two}`, words, share);
  }
  const partner = (words) => best.get(`other ${words.split('\t')[1]}`).words;
  const isMutual = ([side, { words }]) => side.startsWith('en ') && partner(words) === words;
  return [...best].filter(isMutual).map(([, { words }]) => words.split('\t'));
}
