// The texts of all languages as numbers of words.
import { existsSync, readFileSync } from 'node:fs';
import { wordsOf } from '../../../dist/detect/ngrams.js';
import { nonsense } from './nonsense.mjs';
import { seeded, shuffled } from './random.mjs';
import { CODE } from './sources.mjs';
import { OWN, everyday, recipe, sources, textsFile } from './texts.mjs';

export const UNKNOWN = 'und';
/** There are more everyday sentences in them than elsewhere. */
const OWN_TIMES = 6;
export const languages = Object.keys(recipe.languages);

/** The scripts that a model can tell apart. */
export const scripts = [
  'Latin', 'Cyrillic', 'Arabic', 'Devanagari', 'Han', 'Hiragana', 'Katakana', 'Greek', 'Hebrew', 'Georgian', 'Armenian',
  'Thai', 'Hangul', 'Khmer', 'Myanmar', 'Bengali', 'Gurmukhi', 'Gujarati', 'Tamil', 'Telugu', 'Kannada', 'Malayalam',
  'Sinhala', 'Ethiopic',
];
const NONE = 255;
/** The script of each UTF-16 unit that is a letter. */
const scriptOfUnit = new Uint8Array(2 ** 16).fill(NONE);
scripts.forEach((name, script) => {
  const pattern = new RegExp(`\\p{Script=${name}}`, 'u');
  for (let unit = 0; unit < scriptOfUnit.length; unit++) {
    if (pattern.test(String.fromCharCode(unit))) scriptOfUnit[unit] = script;
  }
});

/** Adds a text's letters to the `counts` of each script. */
function countLetters(text, counts) {
  for (let at = 0; at < text.length; at++) {
    const script = scriptOfUnit[text.charCodeAt(at)];
    if (script !== NONE) counts[script] += 1;
  }
}

/** The script of most of a text's letters: an index, or -1. */
function scriptOf(text) {
  const counts = new Uint32Array(scripts.length);
  countLetters(text, counts);
  const most = counts.reduce((a, b) => Math.max(a, b));
  return most > 0 ? counts.indexOf(most) : -1;
}

/** The share of a language's letters that a script must have if the language is written in it. */
const LEAST_SHARE = 0.001;

/** The scripts that a language's learned texts are written in, foreign words included. */
function usedScripts(texts) {
  const counts = new Float64Array(scripts.length);
  for (const text of texts) countLetters(text, counts);
  const all = counts.reduce((sum, count) => sum + count);
  return scripts.filter((_, script) => counts[script] >= LEAST_SHARE * all && counts[script] > 0);
}

/** Scripts that write no spaces between words: a run of them is cut into parts of at most this many characters. */
const unspaced = new RegExp(`[${['Han', 'Hiragana', 'Katakana', 'Thai', 'Khmer', 'Myanmar']
  .map((name) => `\\p{Script=${name}}`).join('')}ー]{2,}`, 'u');
const PART = 12;

/** The words to learn from. */
function trainingWords(text) {
  return wordsOf(text).flatMap((word) => {
    if (!unspaced.test(word)) return [word];
    const parts = [];
    const size = 2 + (word.length % (PART - 1));
    for (let at = 0; at < word.length; at += size) parts.push(word.slice(at, at + size));
    return parts;
  });
}

const SHORT = 20; // characters
const FIRST_IDEOGRAPH = 0x2e80; // and what follows: scripts that say much in few characters
/** Labels of a word or two are left out: many are the same in several languages. */
const isLong = (text) => text.length > SHORT || text.charCodeAt(0) >= FIRST_IDEOGRAPH;

/** A text found in two languages belongs to English if that is one of them, and otherwise to none. */
function ownerOf(one, other) {
  if (one === undefined || one === other) return other;
  return one === 'en' || other === 'en' ? 'en' : null;
}

const TAB = 9, LINE_END = 10;

/** At most `most` texts of each language in a file, evenly spread: `[language, texts]`. */
function sampledTexts(file, most) {
  if (!existsSync(file)) throw new Error(`${file} is missing: node web/models/detect/texts.mjs`);
  const bytes = readFileSync(file);
  const starts = new Map();
  for (let at = 0; at < bytes.length;) {
    const tab = bytes.indexOf(TAB, at);
    const language = bytes.latin1Slice(at, tab);
    if (!starts.has(language)) starts.set(language, []);
    starts.get(language).push(tab + 1);
    at = bytes.indexOf(LINE_END, tab) + 1;
  }
  const textAt = (start) => bytes.utf8Slice(start, bytes.indexOf(LINE_END, start));
  return [...starts].map(([language, own]) => {
    const step = Math.max(1, own.length / most);
    const count = Math.min(most, own.length);
    const texts = Array.from({ length: count }, (_, i) => textAt(own[Math.floor(i * step)]));
    return [language, texts.filter(isLong)];
  });
}

/** The texts of all files, without those that are in several languages: a Map of them to `{ language, source }`. */
function distinctTexts(folder, most) {
  const owners = new Map();
  for (const source of sources) {
    for (const [language, texts] of sampledTexts(textsFile(folder, source), source === OWN ? OWN_TIMES * most : most)) {
      for (const text of texts) {
        const owner = owners.get(text);
        owners.set(text, { language: ownerOf(owner?.language, language), source: owner?.source ?? source });
      }
    }
  }
  return owners;
}

/** One in this many texts is not learned, but measured. */
const HELD = 25;

function isHeld(text) {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % HELD === 0;
}

/** Which scripts a language is written in: those of at least a tenth of its texts, Latin only if no other is. */
function scriptsOf(texts) {
  const counts = new Map();
  for (const text of texts) {
    const script = scriptOf(text);
    counts.set(script, (counts.get(script) ?? 0) + 1);
  }
  const own = [...counts.keys()].filter((script) => script > 0 && counts.get(script) > texts.length / 10);
  return own.length > 0 ? own.sort((a, b) => a - b) : [0];
}

/** So many of a language's words are its common ones. */
const COMMON = 150;

function commonWords(texts) {
  const counts = new Map();
  for (const text of texts) for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Set([...counts].sort(([, a], [, b]) => b - a).slice(0, COMMON).map(([word]) => word));
}

/** Whether a text has more of the common words of English than of its own language: some are not translated. */
function isUntranslated(text, own, english) {
  const words = wordsOf(text);
  const count = (set) => words.filter((word) => set.has(word)).length;
  const foreign = count(english);
  return foreign > 1 && foreign > count(own);
}

/** The texts of a language that are in its scripts and not in English. */
function cleanTexts(language, texts, english) {
  if (language === UNKNOWN) return texts.filter(({ text }) => !isUntranslated(text, new Set(), english));
  const own = new Set(scriptsOf(texts.map(({ text }) => text)));
  const written = texts.filter(({ text }) => own.has(scriptOf(text)));
  if (language === 'en' || !own.has(0)) return written;
  const common = commonWords(written.map(({ text }) => text));
  return written.filter(({ text }) => !isUntranslated(text, common, english));
}

/** Everyday texts first; both in an order drawn by `seed`. */
function ordered(texts, seed, most) {
  const of = (wanted) => shuffled(texts.filter(({ isEveryday }) => isEveryday === wanted), seeded(seed))
    .slice(0, most).map(({ text }) => text);
  const plain = of(true);
  return { texts: [...plain, ...of(false)], everyday: plain.length };
}

/**
 * What is learned of each language, `{ texts, everyday }`, of which the first `everyday` are everyday ones; what is
 * held back, `{ language, source, text }`, also of languages that are not learned.
 */
export function readTexts(folder, { texts: most, ofPackage }) {
  const groups = new Map([...languages, CODE, ...recipe.unlearned].map((language) => [language, []]));
  for (const [text, { language, source }] of distinctTexts(folder, ofPackage)) {
    groups.get(language)?.push({ text, language, source, isEveryday: everyday.has(source) });
  }
  const english = commonWords(groups.get('en').filter(({ source }) => source === OWN).map(({ text }) => text));
  const learned = new Map(), held = recipe.unlearned.flatMap((language) => groups.get(language));
  const take = (language, texts) => {
    held.push(...texts.filter(({ text }) => isHeld(text)));
    return texts.filter(({ text }) => !isHeld(text));
  };
  languages.forEach((language, i) => {
    const own = take(language, cleanTexts(language, groups.get(language), english));
    learned.set(language, ordered(own, i + 1, most));
  });
  // What is learned as unknown is to one half what nobody would call a language.
  const code = take(CODE, groups.get(CODE)).map(({ text }) => text);
  const unknown = learned.get(UNKNOWN);
  const none = [...code, ...nonsense(recipe.keyboards, code.length, seeded(0))];
  learned.set(UNKNOWN, { texts: [...none, ...unknown.texts], everyday: none.length });
  return { learned, held };
}

/**
 * Numbers of words: `texts[language][i]` are those of a text, the first `everyday[language]` of them everyday ones;
 * `names[word]` is the word. `scripts[language]` are the indices of the scripts that a language is mainly written in,
 * `used` the names of all that it is written in.
 */
export function readCorpus(folder, settings) {
  const numbers = new Map();
  const numberOf = (word) => {
    if (!numbers.has(word)) numbers.set(word, numbers.size);
    return numbers.get(word);
  };
  const { learned, held } = readTexts(folder, settings);
  const numbersOf = (text) => Uint32Array.from(trainingWords(text), numberOf);
  const texts = languages.map((language) => learned.get(language).texts.map(numbersOf));
  return {
    texts,
    held,
    everyday: languages.map((language) => learned.get(language).everyday),
    scripts: languages.map((language) => (language === UNKNOWN ? [] : scriptsOf(learned.get(language).texts))),
    used: languages.map((language) => usedScripts(learned.get(language).texts)),
    names: [...numbers.keys()],
  };
}
