// The texts of all languages as numbers of words.
import { existsSync, readFileSync } from 'node:fs';
import { wordsOf } from '../../../dist/detect/ngrams.js';
import { seeded, shuffled } from './random.mjs';
import { recipe, textsFile } from './texts.mjs';

export const UNKNOWN = 'und';
export const languages = Object.keys(recipe.languages);

const scripts = [
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

/** The script of most of a text's letters: an index, or -1. */
function scriptOf(text) {
  const counts = new Uint32Array(scripts.length);
  for (let at = 0; at < text.length; at++) {
    const script = scriptOfUnit[text.charCodeAt(at)];
    if (script !== NONE) counts[script] += 1;
  }
  const most = counts.reduce((a, b) => Math.max(a, b));
  return most > 0 ? counts.indexOf(most) : -1;
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

/** The texts of each language, in the order of their languages and packages, without those that are in several. */
function distinctTexts(folder, names) {
  const owners = new Map();
  for (const name of names) {
    const file = textsFile(folder, name);
    if (!existsSync(file)) throw new Error(`${file} is missing: node web/models/detect/texts.mjs`);
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [language, text] = line.split('\t');
      if (text && isLong(text)) owners.set(text, ownerOf(owners.get(text), language));
    }
  }
  const texts = new Map(languages.map((language) => [language, []]));
  for (const [text, language] of owners) texts.get(language)?.push(text);
  return texts;
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

/** The texts of each language that are in its scripts, in an order drawn by its number. */
export function readTexts(folder, names) {
  const found = distinctTexts(folder, names);
  return new Map(languages.map((language, i) => {
    const texts = found.get(language);
    const scripts = new Set(language === UNKNOWN ? [] : scriptsOf(texts));
    const own = language === UNKNOWN ? texts : texts.filter((text) => scripts.has(scriptOf(text)));
    return [language, shuffled(own, seeded(i + 1))];
  }));
}

/**
 * Numbers of words: `texts[language][i]` are those of a text, `names[word]` is the word. `scripts[language]` are
 * the scripts that a language is written in.
 */
export function readCorpus(folder, names, most) {
  const numbers = new Map();
  const numberOf = (word) => {
    if (!numbers.has(word)) numbers.set(word, numbers.size);
    return numbers.get(word);
  };
  const found = readTexts(folder, names);
  const texts = languages.map((language) => found.get(language).slice(0, most)
    .map((text) => Uint32Array.from(trainingWords(text), numberOf)).filter(({ length }) => length > 0));
  const scripts = languages.map((language) => (language === UNKNOWN ? [] : scriptsOf(found.get(language))));
  return { texts, scripts, names: [...numbers.keys()] };
}
