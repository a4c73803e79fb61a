// Writes bindings/js/generated/sentence-words.ts: the abbreviations after which a sentence goes on, and the words that
// begin one. `node bindings/tools/generate-sentences.mjs` after a new version of the package of Unicode's data.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { main, root } from './shell.mjs';

/** The sentences of the page's own pairs by language. */
function sentencesOf(language) {
  const pairs = { de: ['en-de'], fr: ['en-fr'], en: ['en-de', 'en-fr', 'en-zh'] }[language];
  return pairs.flatMap((name) => {
    const rows = gunzipSync(readFileSync(join(root, `web/public/pairs/${name}.tsv.gz`))).toString().trimEnd().split('\n');
    return rows.map((row) => row.split('\t')[language === 'en' ? 0 : 1]);
  });
}

/** How often each word is found by `pattern`, whose group is the word, in any case. */
function countsOf(sentences, pattern) {
  const counts = new Map();
  for (const [, word] of sentences.flatMap((sentence) => [...sentence.matchAll(pattern)])) {
    counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + 1);
  }
  return (word) => counts.get(word) ?? 0;
}

/** Unicode's suppressions (CLDR), part by part: 'v. Chr.' is 'v' and 'chr'. Single letters go by a rule. */
function suppressionsOf(language) {
  const path = `node_modules/cldr-segments-full/segments/${language}/suppressions.json`;
  const { standard } = JSON.parse(readFileSync(join(root, path), 'utf8')).segments.segmentations.SentenceBreak;
  const parts = standard.flatMap(({ suppression }) => suppression.toLowerCase().split(/\s+/));
  return parts.map((part) => part.replace(/\.$/, '')).filter((part) => /\p{L}{2}/u.test(part));
}

/** Words that Unicode's list has as abbreviations, but which end sentences, such as "test." and "am.". */
function endWordsOf(sentences) {
  const atEnd = countsOf(sentences, /(\p{L}[\p{L}.-]*)\.$/gu);
  const inside = countsOf(sentences, /(\p{L}[\p{L}.-]*)\.(?=\s+[\p{Lu}\d])/gu);
  return (word, most) => atEnd(word) > inside(word) + most;
}

/** The commonest first words of those that are mostly written small elsewhere. */
function firstWordsOf(sentences) {
  const first = countsOf(sentences, /^[^\p{L}]*(\p{L}{2,})/gu);
  const small = countsOf(sentences, /(?<=\P{L})(\p{Ll}{2,})(?!\p{L})/gu);
  const large = countsOf(sentences, /(?<=\p{L}.*\P{L})(\p{Lu}\p{Ll}+)(?!\p{L})/gu);
  const words = new Set(sentences.map((sentence) => sentence.match(/\p{L}{2,}/u)?.[0].toLowerCase() ?? ''));
  return [...words].filter((word) => first(word) > sentences.length / 250 && small(word) * 4 > large(word));
}

/** The two lists, sorted. */
export function sentenceWords() {
  const all = ['de', 'en', 'fr'].map((language) => {
    const sentences = sentencesOf(language);
    return { parts: suppressionsOf(language), endsSentences: endWordsOf(sentences), first: firstWordsOf(sentences) };
  });
  const listed = [...new Set(all.flatMap(({ parts }) => parts))].sort();
  // Words of another language count only if they end more than two sentences.
  const isWord = (word) => all.some(({ parts, endsSentences }) => endsSentences(word, parts.includes(word) ? 0 : 2));
  return {
    abbreviations: listed.filter((word) => !isWord(word)),
    firstWords: [...new Set(all.flatMap(({ first }) => first))].sort(),
  };
}

/** The words in lines of at most 120 characters. */
function wrapped(words) {
  const lines = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && `  ${last} ${word}`.length <= 118) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `  ${line}`).join('\n');
}

export function sentenceWordsFile() {
  const { abbreviations, firstWords } = sentenceWords();
  return `// Written by bindings/tools/generate-sentences.mjs. Do not edit. From Unicode's CLDR, copyright Unicode, Inc., whose
// license is in LICENSES.txt, and from the sentences in web/public/pairs.

/** Abbreviations of German, English and French, without the last dot, after which a sentence goes on. */
export const abbreviations = \`
${wrapped(abbreviations)}
\`;

/** Words that begin sentences, and that are written small inside of them. */
export const firstWords = \`
${wrapped(firstWords)}
\`;
`;
}

await main(import.meta.url, () => {
  writeFileSync(join(root, 'bindings/js/generated/sentence-words.ts'), sentenceWordsFile());
});
