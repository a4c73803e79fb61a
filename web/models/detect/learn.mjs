// Multinomial logistic regression by stochastic gradient descent. Its matrix [n-grams, languages] is a product of two:
// a vector for each n-gram, stored as whole numbers from -7 to 7, and a matrix [languages, width].
import { HASH_BITS, visitGrams } from '../../../dist/detect/ngrams.js';
import { UNKNOWN, languages } from './corpus.mjs';
import { seeded } from './random.mjs';

const MOST = 7; // of the whole numbers
const EPSILON = 1e-8;

/** For each word the places of its n-grams among `grams`. */
export function gramsOfWords(names, grams) {
  const placeOf = new Int32Array(2 ** HASH_BITS).fill(-1);
  grams.forEach((gram, place) => (placeOf[gram] = place));
  return names.map((name) => {
    const found = [];
    visitGrams(name, (hash) => {
      if (placeOf[hash] >= 0) found.push(placeOf[hash]);
    });
    return Uint32Array.from(found);
  });
}

/** Draws fewer where there are fewer everyday texts. */
const ENOUGH = 2000;

/** Draws texts: a language, a text of it, and often only a few words of that. */
function drawing({ texts, everyday }, settings) {
  const random = seeded(settings.seed);
  const below = (end) => Math.floor(random() * end);
  const unknown = languages.indexOf(UNKNOWN);
  const drawn = languages.flatMap((name, language) => Array(settings.often[name] ?? 1).fill(language));
  return () => {
    const language = random() < settings.unknown ? unknown : drawn[below(drawn.length)];
    const lines = texts[language];
    const isEveryday = random() < settings.everyday * Math.min(1, everyday[language] / ENOUGH);
    const line = lines[below(isEveryday ? everyday[language] : lines.length)];
    // A few words of code may be words of English.
    const isShort = random() < settings.short && !(isEveryday && language === unknown);
    const length = Math.min(line.length, isShort ? 1 + below(settings.shortest) : settings.longest);
    const start = below(line.length - length + 1);
    return { language, words: line.subarray(start, start + length) };
  };
}

/** The model while it learns. */
class Weights {
  constructor(count, { width, seed, spread }) {
    const random = seeded(seed + 1);
    this.width = width;
    this.vectors = Float32Array.from({ length: count * width }, () => (random() - 0.5) * spread);
    this.output = new Float32Array(languages.length * width);
    this.bias = new Float32Array(languages.length);
    this.squares = { vectors: new Float32Array(count), output: new Float32Array(languages.length) };
    this.steps = undefined; // of the whole numbers in each column
    this.read = this.vectors; // what counts: the vectors, or what will be stored of them
  }

  /** From now on the vectors count as they will be stored. */
  round(reach) {
    const { width, vectors } = this;
    this.steps = new Float32Array(width);
    for (let column = 0; column < width; column++) {
      let sum = 0;
      for (let at = column; at < vectors.length; at += width) sum += vectors[at] ** 2;
      this.steps[column] = reach * Math.sqrt(sum * width / vectors.length) / MOST;
    }
    this.read = new Float32Array(vectors.length);
    for (let at = 0; at < vectors.length; at += width) this.roundRow(at);
  }

  roundRow(at) {
    const { width, read, steps } = this;
    for (let column = 0; column < width; column++) read[at + column] = this.whole(at, column) * steps[column];
  }

  whole(at, column) {
    const value = Math.round(this.vectors[at + column] / this.steps[column]);
    return Math.max(-MOST, Math.min(MOST, value));
  }
}

/** Adds up the vectors of a text's n-grams, divided by the root of their number. */
function pool(weights, places, hidden) {
  const { width, read } = weights;
  hidden.fill(0);
  for (const place of places) {
    const at = place * width;
    for (let i = 0; i < width; i++) hidden[i] += read[at + i];
  }
  const scale = 1 / Math.sqrt(places.length);
  for (let i = 0; i < width; i++) hidden[i] *= scale;
  return scale;
}

function softmax({ width, output, bias }, hidden, chances) {
  let most = -Infinity;
  for (let language = 0; language < chances.length; language++) {
    let sum = bias[language];
    for (let i = 0; i < width; i++) sum += output[language * width + i] * hidden[i];
    chances[language] = sum;
    most = Math.max(most, sum);
  }
  let total = 0;
  for (let language = 0; language < chances.length; language++) {
    chances[language] = Math.exp(chances[language] - most);
    total += chances[language];
  }
  for (let language = 0; language < chances.length; language++) chances[language] /= total;
}

/** One step of Adagrad with one rate for each row. */
function update(weights, places, target, rate, { hidden, chances, gradient, scale }) {
  const { width, vectors, output, bias, squares } = weights;
  gradient.fill(0);
  let hiddenSquare = 0;
  for (let i = 0; i < width; i++) hiddenSquare += hidden[i] ** 2 / width;
  for (let language = 0; language < chances.length; language++) {
    const error = (language === target ? 1 : 0) - chances[language];
    const row = language * width;
    for (let i = 0; i < width; i++) gradient[i] += error * output[row + i];
    squares.output[language] += error ** 2 * (hiddenSquare + EPSILON);
    const step = rate * error / Math.sqrt(squares.output[language] + EPSILON);
    for (let i = 0; i < width; i++) output[row + i] += step * hidden[i];
    bias[language] += step * 0.1;
  }
  let square = 0;
  for (let i = 0; i < width; i++) {
    gradient[i] *= scale;
    square += gradient[i] ** 2 / width;
  }
  for (const place of places) {
    squares.vectors[place] += square;
    const step = rate / Math.sqrt(squares.vectors[place] + EPSILON);
    for (let i = 0; i < width; i++) vectors[place * width + i] += step * gradient[i];
    if (weights.steps) weights.roundRow(place * width);
  }
}

/** Places of the n-grams of a text, in `room`. */
function placesOf(words, grams, room) {
  let count = 0;
  for (const word of words) {
    const own = grams[word];
    if (count + own.length > room.length) break;
    room.set(own, count);
    count += own.length;
  }
  return room.subarray(0, count);
}

export function learn(corpus, grams, settings, log) {
  const wordGrams = gramsOfWords(corpus.names, grams);
  const weights = new Weights(grams.length, settings);
  const draw = drawing(corpus, settings);
  const room = new Uint32Array(4096);
  const state = {
    hidden: new Float32Array(settings.width), gradient: new Float32Array(settings.width),
    chances: new Float64Array(languages.length), scale: 1,
  };
  const roundFrom = Math.floor(settings.steps * settings.rounded);
  let loss = 0, right = 0;
  for (let step = 0; step < settings.steps; step++) {
    if (step === roundFrom) weights.round(settings.reach);
    const { language, words } = draw();
    if (words.length === 0) continue;
    const places = placesOf(words, wordGrams, room);
    if (places.length === 0) continue;
    state.scale = pool(weights, places, state.hidden);
    softmax(weights, state.hidden, state.chances);
    loss -= Math.log(state.chances[language]);
    if (state.chances[language] > 0.5) right += 1;
    update(weights, places, language, settings.rate * (1 - step / settings.steps), state);
    if ((step + 1) % settings.report === 0) {
      const share = (100 * right / settings.report).toFixed(1);
      log(`${step + 1}: loss ${(loss / settings.report).toFixed(3)}, sure and right ${share} %`);
      loss = right = 0;
    }
  }
  return weights;
}
