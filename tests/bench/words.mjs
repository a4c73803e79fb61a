// Logistic regression on the words of a text and on pairs of neighboring words: what a classifier should not fall behind.
// Chinese is taken by characters. Trained by AdaGrad, one text at a time.

const passes = 12;
const rate = 0.3;
const decay = 1e-4;
const start = '\u0002'; // so that a text's first word has a pair, too

/** Lower-cased words of `text`; each Chinese character is one. */
export const wordsOf = (text) => text.toLowerCase().match(/\p{Script=Han}|[^\s\p{Script=Han}]+/gu) ?? [];

// The different words and pairs of a text.
function featuresOf(text) {
  const words = wordsOf(text);
  const pairs = words.map((word, i) => `${i > 0 ? words[i - 1] : start} ${word}`);
  return [...new Set([start, ...words, ...pairs])];
}

function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

// A generator of numbers from 0 to 1 (Park and Miller's minimal standard), so that each run gives the same result.
function generator(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

function shuffle(list, random) {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
}

/** A function from a text to its most probable label, learned from `examples`, a list of { label, text }. */
export function trainOnWords(examples) {
  const labels = [...new Set(examples.map(({ label }) => label))];
  const numbers = new Map(); // of features
  for (const { text } of examples) {
    for (const feature of featuresOf(text)) {
      if (!numbers.has(feature)) numbers.set(feature, numbers.size);
    }
  }
  const weights = labels.map(() => new Float64Array(numbers.size));
  const squares = labels.map(() => new Float64Array(numbers.size).fill(1e-8));
  const knownFeatures = (text) => featuresOf(text).map((feature) => numbers.get(feature)).filter((number) => number !== undefined);
  // Each feature counts 1 / √n, so that a long text is not more certain than a short one.
  const scoresOf = (found) => weights.map((row) => found.reduce((sum, feature) => sum + row[feature], 0) / Math.sqrt(found.length));

  const learn = ({ label, found }) => {
    const probabilities = softmax(scoresOf(found));
    for (const [c, probability] of probabilities.entries()) {
      const error = (probability - (c === label ? 1 : 0)) / Math.sqrt(found.length);
      for (const feature of found) {
        const gradient = error + decay * weights[c][feature];
        squares[c][feature] += gradient * gradient;
        weights[c][feature] -= rate * gradient / Math.sqrt(squares[c][feature]);
      }
    }
  };

  const prepared = examples.map(({ label, text }) => ({ label: labels.indexOf(label), found: knownFeatures(text) }));
  const random = generator(1);
  for (let pass = 0; pass < passes; pass++) {
    shuffle(prepared, random);
    prepared.forEach(learn);
  }
  return (text) => {
    const scores = scoresOf(knownFeatures(text));
    return labels[scores.indexOf(Math.max(...scores))];
  };
}
