// Which n-grams the model knows: those that tell most about the language among the languages of one script.
import { HASH_BITS, hashOfLetter, visitGrams } from '../../../dist/detect/ngrams.js';

/** How often each word occurs in each language, damped: names of commands and the like are repeated too often. */
function wordWeights({ texts, names }, power) {
  return texts.map((lines) => {
    const counts = new Float32Array(names.length);
    for (const line of lines) for (const word of line) counts[word] += 1;
    let sum = 0;
    for (let word = 0; word < counts.length; word++) {
      if (counts[word] > 0) sum += counts[word] **= power;
    }
    return counts.map((count) => count / sum);
  });
}

/** The share of each n-gram in the words of a language. */
function gramShares(weights, names) {
  const shares = new Float32Array(2 ** HASH_BITS);
  let weight = 0;
  const add = (hash) => (shares[hash] += weight);
  for (let word = 0; word < names.length; word++) {
    weight = weights[word];
    if (weight > 0) visitGrams(names[word], add);
  }
  return shares;
}

/** How many bits each n-gram tells about a word's language, summed over the languages of a group. */
function addInformation(scores, shares) {
  const mean = new Float32Array(scores.length);
  for (const share of shares) for (let gram = 0; gram < mean.length; gram++) mean[gram] += share[gram] / shares.length;
  for (const share of shares) {
    for (let gram = 0; gram < mean.length; gram++) {
      if (share[gram] > 0) scores[gram] += share[gram] * Math.log2(share[gram] / mean[gram]);
    }
  }
}

/** Each language's most frequent letters are always among them: a script may have one language alone. */
const LETTERS = 60;

function letterGrams(weights, names) {
  const shares = new Map();
  for (let word = 0; word < names.length; word++) {
    if (weights[word] === 0) continue;
    for (const letter of names[word]) shares.set(letter, (shares.get(letter) ?? 0) + weights[word]);
  }
  const order = [...shares].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const units = order.slice(0, LETTERS).flatMap(([letter]) => letter.split(''));
  return units.map((unit) => hashOfLetter(unit.charCodeAt(0)));
}

/** Languages by their first script; those without one belong to the Latin ones. */
function groupsOf(scripts) {
  const groups = new Map();
  scripts.forEach(([first = 0], language) => groups.set(first, [...groups.get(first) ?? [], language]));
  return [...groups.values()];
}

/** How much each n-gram tells about the language, by its hash. */
export function scoreGrams(corpus, power) {
  const weights = wordWeights(corpus, power);
  const scores = new Float32Array(2 ** HASH_BITS);
  for (const members of groupsOf(corpus.scripts)) {
    addInformation(scores, members.map((language) => gramShares(weights[language], corpus.names)));
  }
  for (const of of weights) for (const gram of letterGrams(of, corpus.names)) scores[gram] = Infinity;
  return scores;
}

/** The hashes of the `count` best n-grams in ascending order. */
export function bestGrams(scores, count) {
  const least = scores.slice().sort().at(-count);
  return Uint32Array.from(scores.keys()).filter((gram) => scores[gram] > 0 && scores[gram] >= least).slice(0, count);
}
