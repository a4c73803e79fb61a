// The kinds of text that a recipe's parts name. Each gives pairs [English, other].
import { common } from '../common.mjs';
import { clean, cut, flaw, inDrawnOrder, key, length, tidy } from '../corpus.mjs';
import { numberPhrases, pairs as phrasePairs, phrases, table } from '../phrases.mjs';
import { readCatalogues } from './catalogues.mjs';
import { lexicon } from './lexicon.mjs';
import { nearest } from './machine.mjs';
import { readLines } from './sources.mjs';
import { hasCode, withMarkedWord, withSpans } from './spans.mjs';

const columns = { en: 0, de: 1, fr: 2, zh: 3 };
const rows = (file) => readLines(file).map((line) => line.split('\t'));

/** Whether a side must not be learned. */
export const isKept = (pair, { kept }) => pair.some((side) => kept.has(key(side)));

/** The pairs of a file as they are. */
const pairs = (part, context) => rows(context.find(part.file)).map((row) => row.slice(0, 2));

/** Corpora that are cleaned, and of which parts are kept aside to validate and to test on. */
function corpora(part, context) {
  const train = [];
  for (const [name, { most, without }] of Object.entries(part.corpora)) {
    const lines = rows(context.find(`${name}/train.tsv.gz`));
    const isWanted = (_, i) => !without || i + 1 < without[0] || i + 1 > without[1];
    const wanted = lines.filter(isWanted);
    const { good, flaws } = clean(wanted, context.seen, part['most-words']);
    const parts = cut(good, { valid: part.valid, test: part.test });
    train.push(...parts.train.slice(0, most));
    context.aside.valid.push(...parts.valid);
    context.aside.test.push(...parts.test);
    const taken = Math.min(most ?? Infinity, parts.train.length);
    const leftOut = JSON.stringify(flaws);
    context.log(`  ${name}: ${good.length} good of ${wanted.length}, ${taken} taken; left out ${leftOut}`);
    const isOfCode = (pair) => flaw(pair, part['most-words']) === 'code' && hasCode(pair) && !isKept(pair, context);
    context.withCode.push(...wanted.map((pair) => pair.map(tidy)).filter(isOfCode));
  }
  return train;
}

/** The beginning of a corpus's sentences in an order that a seed draws. */
function sentencesOf(part, context) {
  const [least, most] = part.words ?? [1, 60];
  const seen = new Set();
  const isUsable = (text) => {
    const known = key(text);
    const fits = length(text) >= least && length(text) <= most && !seen.has(known) && !context.kept.has(known);
    seen.add(known);
    return fits && !(part['not-in'] ?? []).some((name) => context.sides(name).has(known));
  };
  const lines = part.texts.flatMap(({ file, column }) =>
    column === undefined ? readLines(context.find(file)) : rows(context.find(file)).map((row) => row[column]));
  const usable = lines.map(tidy).filter(isUsable);
  return inDrawnOrder(usable, (text) => text, `${context.seed} ${part.name}`).slice(0, part.most);
}

const words = (text) => text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}_]+/gu) ?? [];
function shared(a, b) {
  const left = [...b];
  return a.filter((word) => left.includes(word) && left.splice(left.indexOf(word), 1)).length;
}
/** Word F1 of a sentence and its translation translated back. */
const agreement = (a, b) => 2 * shared(words(a), words(b)) / (words(a).length + words(b).length || 1);
const isRepeating = (text) => /(.{1,4})\1\1/u.test(text) || text.includes('⁇') || text.includes('�');

/** Text of one language with translations by an earlier model, which are the side that `text` is not. */
function translated(part, context) {
  const texts = sentencesOf(part, context);
  const found = context.translate(texts, context.model(part.model), { beam: part.beam }).map(([text]) => tidy(text));
  const isEnglish = part.model.startsWith('en-');
  let made = texts.map((text, i) => isEnglish ? [text, found[i]] : [found[i], text]);
  if (part.back) {
    const back = context.translate(found, context.model(part.back)).map(([text]) => text);
    made = made.filter((_, i) => agreement(texts[i], back[i]) >= part.least);
  }
  return made.filter((pair) => !flaw(pair, 60) && !pair.some(isRepeating));
}

/** Translates the sources of another part, and takes the hypothesis nearest to each reference (Kim and Rush 2016). */
function taught(part, context) {
  const own = context.part(part.from);
  const from = part.model.startsWith('en-') ? 0 : 1, to = 1 - from;
  const found = context.translate(own.map((pair) => pair[from]), context.model(part.model), { beam: 4, best: 4 });
  const made = own.map((pair, i) => {
    const chosen = found[i].length > 0 ? nearest(found[i], pair[to]) : pair[to];
    return from === 0 ? [pair[0], chosen] : [chosen, pair[1]];
  });
  return made.filter((pair, i) => pair[to] !== own[i][to] && !flaw(pair, 60) && !pair.some(isRepeating));
}

/** Sentences that were written for these models. */
const sentences = (part, { languages }) => part.tables.flatMap((name) => {
  const places = name === 'sentences-zh.tsv' ? { en: 0, zh: 1 } : columns;
  const other = languages.find((language) => language !== 'en');
  return table(name).map((row) => [row[places.en], row[places[other]]]);
});

const fromPhrases = (part, { languages, seed }, book) =>
  phrasePairs({ languages, count: part.count, seed: part.seed ?? seed, book });

/** The shortest pairs of a part. */
function brief(part, context) {
  const isBrief = ([english, other]) => context.other === 'zh' ? length(english) <= 3 : length(other) <= 3;
  return context.part(part.from).filter(isBrief);
}

function catalogues(part, context) {
  const { pairs: found, held } = readCatalogues(context.find(part.folder), Object.keys(part.packages), context.other);
  context.aside.labels = held;
  const hasPlaceholder = ([english]) => /[%{}$]/u.test(english);
  const [withThem, plain] = [found.filter(hasPlaceholder), found.filter((pair) => !hasPlaceholder(pair))];
  context.withCode.push(...withThem.filter(hasCode));
  context.log(`  ${withThem.length} of ${found.length} messages have placeholders; ${held.length} are kept aside`);
  return plain.filter(([english]) => length(english) <= part['most-words']);
}

export const kinds = {
  pairs, corpora, translated, taught, sentences, brief, catalogues,
  phrases: (part, context) => fromPhrases(part, context, phrases),
  numbers: (part, context) => fromPhrases(part, context, numberPhrases),
  common: (part, context) => common(context.part(part.from)),
  lexicon: (part, context) => lexicon(context.part(part.from), context.other, { least: part.least }),
};

/** The pairs of all parts that are dictionaries. */
const dictionaryOf = ({ recipe, part }) =>
  new Map(recipe.parts.filter(({ kind }) => kind === 'lexicon').flatMap(({ name }) => part(name)));

/** `count` pairs with placeholders: all that have code or placeholders of programs, then others. */
export function spanned(all, count, context, draw) {
  const made = [], known = new Set();
  const rest = (pair) => pair.map((text) => text.replace(/<[nws][1-8]>/gu, 'it'));
  const add = (pair) => {
    if (!pair || known.has(pair.join('\t')) || flaw(rest(pair), 70) !== '') return;
    known.add(pair.join('\t'));
    made.push(pair);
  };
  for (const pair of context.withCode) add(withSpans(pair, draw, 0, 1));
  const withCode = made.length;
  const dictionary = dictionaryOf(context);
  for (let tries = 0; made.length < count && tries < 8 * count; ++tries) {
    const pair = draw.any(all);
    const signs = draw.any([0, 0, 0, 0, 0, 0, 0, 1, 1, 2]);
    // Signs within a sentence stand beside words whose place is known.
    add(draw.random() < 0.25 ? withMarkedWord(pair, draw, dictionary) : withSpans(pair, draw, signs));
  }
  context.log(`  ${withCode} of them stand for code, addresses or placeholders of programs`);
  return made;
}
