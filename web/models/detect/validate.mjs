// Measures a detector on texts that were held back from its training, and chooses how likely unknown must be.
import { Detector } from '../../../dist/detect/detector.js';
import { UNKNOWN, languages } from './corpus.mjs';
import { encodeModel } from './file.mjs';
import { nonsense } from './nonsense.mjs';
import { seeded } from './random.mjs';
import { windowsOf } from './score.mjs';
import { OWN, everyday, recipe } from './texts.mjs';

const LEAST_WORDS = 4;
/** What a detector leaves out of its list has less. */
const LEAST = 0.01;
const MOST_OWN = 200;
const MOST_TEXTS = 20; // of a language in a group
const OWN_SEED = 99; // of nonsense that is not learned
const CODE = 'code';

/** The name of a package without its language. */
const groupOf = (source) => Object.keys(recipe.packages).find((name) => source.startsWith(name)) ?? source;

const isSentence = (text, language) =>
  windowsOf(text, languages.includes(language) ? language : 'en', LEAST_WORDS).length > 0;

/** Held-back texts of at least four words, by group and language. */
function grouped(held) {
  const groups = new Map();
  for (const { language, source, text } of held) {
    const kind = everyday.has(source) ? 'everyday' : 'programs';
    const name = language === CODE ? CODE : `${kind}: ${groupOf(source)}`;
    const texts = groups.get(name) ?? new Map();
    groups.set(name, texts);
    const own = texts.get(language) ?? [];
    texts.set(language, own);
    if (own.length >= (source === OWN ? MOST_OWN : MOST_TEXTS)) continue;
    if (language === CODE || isSentence(text, language)) own.push(text);
  }
  groups.set('typed at random', new Map([[UNKNOWN, nonsense(recipe.keyboards, 10 * MOST_TEXTS, seeded(OWN_SEED))]]));
  return groups;
}

const expected = (language) => (languages.includes(language) ? language : UNKNOWN);

/** For each group and language how many texts there are, are right, and are said to be unknown. */
function measure(detector, groups) {
  const rows = [];
  for (const [group, texts] of groups) {
    for (const [language, own] of texts) {
      const found = own.map((text) => detector.detect(text)[0].language);
      const count = (wanted) => found.filter((one) => one === wanted).length;
      rows.push({ group, language, all: own.length, right: count(expected(language)), unknown: count(UNKNOWN), found });
    }
  }
  return rows.filter(({ all }) => all > 0);
}

const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0);
const isKnown = ({ language }) => expected(language) !== UNKNOWN;
/** Lists of words are no sentences. */
const isPlain = (row) => isKnown(row) && !/stopwords|annotations/.test(row.group);

/** How much likelier than unknown the likeliest language is: the logarithm of their confidences. */
function marginOf(detector, text) {
  const found = detector.detect(text);
  const most = (isUnknown) => found.find(({ language }) => (language === UNKNOWN) === isUnknown)?.confidence ?? LEAST;
  return Math.log(most(false) / most(true));
}

/**
 * Makes unknown as likely as can be if at most a share of `most` of the plain sentences are taken for unknown. Gives
 * the model's file, and what was measured.
 */
export function fileWithThreshold({ weights, grams, corpus }, most, log) {
  const groups = grouped(corpus.held);
  const fileOf = () => encodeModel(weights, grams, corpus.used, recipe.card);
  const learned = new Detector(fileOf());
  const plain = [...groups].flatMap(([group, texts]) =>
    [...texts].filter(([language]) => isPlain({ group, language })).flatMap(([, own]) => own));
  const margins = Float64Array.from(plain, (text) => marginOf(learned, text)).sort();
  const step = margins[Math.floor(most * margins.length)];
  weights.bias[languages.indexOf(UNKNOWN)] += step;
  log(`unknown ${step.toFixed(2)}, chosen on ${margins.length} sentences`);
  const file = fileOf();
  return { file, rows: measure(new Detector(file), groups) };
}

const line = (name, rows) => {
  const all = sum(rows, 'all');
  const percent = (count) => `${(100 * count / all).toFixed(1)} %`.padStart(8);
  const shares = `right ${percent(sum(rows, 'right'))} unknown ${percent(sum(rows, 'unknown'))}`;
  return `${name.padEnd(44)} ${String(all).padStart(6)} ${shares}`;
};

const WORST = 25;

/** What texts of a language are taken for, the most frequent first. */
function confusions(language, rows) {
  const counts = new Map();
  for (const one of rows.flatMap(({ found }) => found).filter((one) => one !== language)) {
    counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 4);
  return most.map(([name, count]) => `${name} ${count}`).join(', ');
}

/** Prints what was measured: by group, the worst languages, and what they are taken for. */
export function printRows(rows, log) {
  for (const group of new Set(rows.map((row) => row.group))) {
    const own = rows.filter((row) => row.group === group);
    const known = own.filter(isKnown), others = own.filter((row) => !isKnown(row));
    if (known.length > 0) log(line(group, known));
    if (others.length > 0) log(line(`${group}, unknown`, others));
  }
  log(line('all plain sentences', rows.filter(isPlain)));
  const byLanguage = languages.filter((language) => language !== UNKNOWN)
    .map((language) => [language, rows.filter((row) => isPlain(row) && row.language === language)])
    .map(([language, own]) => ({ language, own, share: sum(own, 'right') / sum(own, 'all') }));
  for (const { language, own } of byLanguage.sort((a, b) => a.share - b.share).slice(0, WORST)) {
    log(`${line(language, own)}  ${confusions(language, own)}`);
  }
}
