// Multinomial logistic regression on the n-grams of a text. Its matrix [n-grams, languages] is a product of two:
// `vectors` [n-grams, width] of whole numbers from -7 to 7, two in a byte, and `output` [languages, width].
import { WasmformerError } from '../shared/errors.js';
import { HASH_BITS, visitGrams, wordsOf } from './ngrams.js';

/** A language and how likely it is. */
export interface Detection {
  /** BCP 47, such as 'pt' or 'zh-Hant'; 'und' for none of the languages that the model knows. */
  language: string;
  /** From 0 to 1. */
  confidence: number;
}

interface Tensor {
  data_offsets: [number, number];
}

type Header = Record<string, Tensor> & { __metadata__?: Record<string, string> };

const UNKNOWN = 'und';
/** Characters that are read; the rest of a longer text is ignored. */
const MOST_CHARACTERS = 10_000;
/** Less likely languages are left out of the result. */
const LEAST = 0.01;
/** If less than this share of a text's letters is in known scripts, the text's script counts as unknown. */
const LEAST_KNOWN = 0.5;
/** A language needs as many of the letters as the best one, less this share of them: texts have foreign words. */
const TOLERANCE = 0.25;
const LOWEST = -8;
const MORE = 255;

function notModel(cause: unknown): WasmformerError {
  const details = { name: 'the given bytes' };
  const sentence = `${details.name} are no model that detects languages`;
  return new WasmformerError('not-a-model', sentence, { room: 'detect', details, cause });
}

interface File {
  languages: string[];
  /** In each line a script and the languages that are written in it. */
  scripts: string[];
  tensor: (name: string) => Uint8Array<ArrayBuffer>;
}

function readFile(file: Uint8Array): File {
  try {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
    const start = 8 + view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(file.subarray(8, start))) as Header;
    const { detected_languages: names, detected_scripts: lines } = header.__metadata__!;
    const languages = names!.split(' ');
    const scripts = lines!.split('\n');
    const tensor = (name: string) => {
      const [from, to] = header[name]!.data_offsets;
      return new Uint8Array(file.subarray(start + from, start + to)); // a copy, aligned; slice() of a Buffer makes none
    };
    return { languages, scripts, tensor };
  } catch (error) {
    throw notModel(error);
  }
}

/** The n-grams that the model knows, and the number of each. */
class Grams {
  #bits = new Uint32Array(2 ** HASH_BITS / 32);
  #before = new Uint32Array(this.#bits.length);

  /** `gaps` are the differences between their hashes in ascending order; 255 goes on in the next byte. */
  constructor(gaps: Uint8Array) {
    let hash = 0;
    for (const gap of gaps) {
      hash += gap;
      if (gap < MORE) this.#bits[hash >>> 5]! |= 1 << (hash & 31);
    }
    for (let i = 1; i < this.#bits.length; i++) this.#before[i] = this.#before[i - 1]! + ones(this.#bits[i - 1]!);
  }

  /** -1 if it is unknown. */
  numberOf(hash: number): number {
    const bits = this.#bits[hash >>> 5]!;
    const bit = hash & 31;
    return (bits >>> bit) & 1 ? this.#before[hash >>> 5]! + ones(bits & ((1 << bit) - 1)) : -1;
  }
}

/** How many bits are set. */
function ones(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Which languages a text's letters can be in. */
class Scripts {
  #scripts: { pattern: RegExp; languages: boolean[] }[];
  #count: number;
  /** The scripts of the letters that were asked for: -1 for an unknown one. */
  #found = new Map<string, number>();

  constructor(lines: string[], languages: string[]) {
    this.#count = languages.length;
    this.#scripts = lines.map((line) => {
      const [name, ...users] = line.split(' ');
      const pattern = new RegExp(`\\p{Script=${name}}`, 'u');
      return { pattern, languages: languages.map((language) => users.includes(language)) };
    });
  }

  #scriptOf(letter: string): number {
    let script = this.#found.get(letter);
    if (script === undefined) {
      script = this.#scripts.findIndex(({ pattern }) => pattern.test(letter));
      this.#found.set(letter, script);
    }
    return script;
  }

  /** True for each language that can be meant; undefined if the text has no letters, or most are in unknown scripts. */
  candidates(text: string): boolean[] | undefined {
    const letters = text.match(/\p{L}/gu) ?? [];
    const counts = this.#scripts.map(() => 0);
    let known = 0;
    for (const letter of letters) {
      const script = this.#scriptOf(letter);
      if (script < 0) continue;
      counts[script]! += 1;
      known += 1;
    }
    if (known === 0 || known < LEAST_KNOWN * letters.length) return undefined;
    const written = new Array<number>(this.#count).fill(0);
    this.#scripts.forEach(({ languages }, script) => {
      if (counts[script] === 0) return;
      for (let i = 0; i < written.length; i++) if (languages[i]) written[i]! += counts[script]!;
    });
    const least = written.reduce((a, b) => Math.max(a, b)) - TOLERANCE * known;
    return written.map((count) => count >= least);
  }
}

/** Detects the language of a text. */
export class Detector {
  /** BCP 47; without 'und'. */
  readonly languages: readonly string[];
  #all: string[];
  #scripts: Scripts;
  #grams: Grams;
  #vectors: Uint8Array;
  #output: Float32Array;
  #bias: Float32Array;
  #width: number;

  /** @hidden loadDetector() makes it */
  constructor(file: Uint8Array) {
    const { languages, scripts, tensor } = readFile(file);
    this.#all = languages;
    this.languages = languages.filter((language) => language !== UNKNOWN);
    this.#scripts = new Scripts(scripts, languages);
    this.#grams = new Grams(tensor('grams'));
    this.#vectors = tensor('vectors');
    this.#output = new Float32Array(tensor('output').buffer);
    this.#bias = new Float32Array(tensor('bias').buffer);
    this.#width = this.#output.length / languages.length;
  }

  /**
   * The languages that a text may be in, the likeliest first, those of at least 0.01. 'und' means none of `languages`;
   * it is all that is found if the text has no letters, or most of them are in a script that the model does not know.
   * Languages that are written in other scripts are never found. Of a text of more than 10,000 characters, the first
   * are read.
   */
  detect(text: string): Detection[] {
    const start = text.slice(0, MOST_CHARACTERS);
    const candidates = this.#scripts.candidates(start);
    if (!candidates) return [{ language: UNKNOWN, confidence: 1 }];
    const hidden = this.#pool(start);
    const width = this.#width;
    const logits = this.#bias.map((bias, language) => {
      if (!candidates[language]) return -Infinity;
      let sum = bias;
      for (let i = 0; i < width; i++) sum += this.#output[language * width + i]! * hidden[i]!;
      return sum;
    });
    const most = logits.reduce((a, b) => Math.max(a, b));
    const shares = logits.map((logit) => Math.exp(logit - most));
    const total = shares.reduce((sum, share) => sum + share, 0);
    const found = this.#all.map((language, i) => ({ language, confidence: shares[i]! / total }));
    return found.filter(({ confidence }) => confidence >= LEAST).sort((a, b) => b.confidence - a.confidence);
  }

  /** The sum of the vectors of the text's n-grams, divided by the root of their number. */
  #pool(text: string): Float64Array {
    const half = this.#width / 2;
    const vectors = this.#vectors;
    const sums = new Float64Array(this.#width);
    let known = 0;
    const visit = (hash: number) => {
      const number = this.#grams.numberOf(hash);
      if (number < 0) return;
      known += 1;
      const at = number * half;
      for (let i = 0; i < half; i++) {
        const pair = vectors[at + i]!;
        sums[2 * i]! += (pair & 15) + LOWEST;
        sums[2 * i + 1]! += (pair >>> 4) + LOWEST;
      }
    };
    for (const word of wordsOf(text)) visitGrams(word, visit);
    const scale = 1 / Math.sqrt(Math.max(1, known));
    return sums.map((sum) => sum * scale);
  }
}
