// Sentence pairs to train on, made from the phrase book phrases.tsv, whose slots are filled anew each time:
//   node web/models/phrases.mjs --languages fr-en --count 6000 [--seed 1] > phrases.fr.tsv
// A line has English and the other language, separated by a tab, as in the corpora here. Of the phrasings that a cell of
// the phrase book offers, separated by ' | ', the source takes any, the target always the first. {place:1} is the second
// of the forms that phrase-words.tsv lists, {Place} begins with a capital letter. A pair is left out if either side is in
// the lists in tests/fixtures/answers, or if it contains a name from those lists.
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { plain } from './answers.mjs';
import { measures } from './prepare/numbers.mjs';

const languages = ['en', 'de', 'fr', 'zh'];
/** The rows of a file here, without the heading. */
export const table = (name) => readFileSync(new URL(name, import.meta.url), 'utf8').trimEnd().split('\n').slice(1)
  .map((line) => line.split('\t'));
const columns = (cells) => Object.fromEntries(cells.map((cell, i) => [languages[i], cell]));
const same = (text) => columns(languages.map(() => text));

const book = (name) => table(name).map(columns);
export const phrases = book('phrases.tsv');
/** With numbers, amounts, dates and addresses of every kind. */
export const numberPhrases = book('prepare/numbers.tsv');
const words = table('phrase-words.tsv');
const listed = Object.fromEntries(words.map(([slot]) =>
  [slot, words.filter((row) => row[0] === slot).map((row) => columns(row.slice(1)))]));
const isWord = (text) => words.some((row) => row.includes(text));

/** Names that both sides of a pair have. */
const namesIn = (a, b) => (a.match(/\p{Lu}[\p{L}-]{2,}/gu) ?? []).filter((name) => b.includes(name) && !isWord(name));

/** The sentences and names that must not occur in any pair. */
export function kept(folder = new URL('../../tests/fixtures/answers/', import.meta.url)) {
  const sentences = new Set(), names = new Set();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.tsv'))) {
    for (const line of readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n')) {
      const [a, b] = line.split('\t');
      sentences.add(plain(a));
      if (!file.startsWith('copies')) continue;
      sentences.add(plain(b));
      for (const name of namesIn(a, b)) names.add(name);
    }
  }
  return { sentences, names };
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const digits = '零一二三四五六七八九';
function inChinese(n) {
  if (n < 10) return digits[n];
  const tens = n < 20 ? '' : digits[Math.floor(n / 10)];
  return `${tens}十${n % 10 ? digits[n % 10] : ''}`;
}
const grouped = (n, mark) => `${n}`.replace(/\B(?=(\d{3})+$)/g, mark);
const pad = (n) => `${n}`.padStart(2, '0');

const joined = (a, b, space = ' ') => Object.fromEntries(languages.map((language) => {
  if (language === 'zh') return [language, a.zh + b.zh];
  const second = space ? b[language] : b[language].toLowerCase();
  return [language, a[language] + space + second];
}));

export function drawing(random) {
  const any = (list) => list[Math.floor(random() * list.length)];
  const range = (from, to) => from + Math.floor(random() * (to - from + 1));
  return { random, any, range, from: (slot) => any(listed[slot]) };
}

const onsets = 'b br c ch d dr f fl g gr h j k kr l m n p r s sch st t th tr v w y z'.split(' ');
const vowels = 'a e i o u a e i o u a e i o ei ia ie au ä é í ö ø å ü'.split(' ');
const codas = 'n l r s m n l r s m nd lf rt ck tz nn č ł ñ š'.split(' ');

/** A name that nobody has, with one of these ends. */
export function inventName({ random, any, range }, ends) {
  const syllable = () => any(onsets) + any(vowels) + (random() < 0.7 ? any(codas) : '');
  const text = Array.from({ length: range(1, 2) }, syllable).join('') + any(ends.split(' '));
  return same(text[0].toUpperCase() + text.slice(1));
}

export const firstEnds = 'a o us ine ette bert mund hild win ric dra ina lene mir';
const lastEnds = 'er ov ski sen mann ini ez off ton berg ier ak ová dorf';
export const cityEnds = 'burg heim ville ton ford stad ovo ingen bach ona ac haven';

const inventedOr = (draw, slot, share, ends) => draw.random() < share ? inventName(draw, ends) : draw.from(slot);

/** Names, many of them invented, as a model is to copy names that it has never met. */
function westernNames(draw) {
  const first = () => inventedOr(draw, 'name', 0.7, firstEnds);
  const last = () => inventedOr(draw, 'surname', 0.7, lastEnds);
  const name = () => draw.random() < 0.2 ? joined(first(), last()) : first();
  const city = () => inventedOr(draw, 'city', 0.35, cityEnds);
  return { first, last, name, surname: last, city };
}

/** Names for Chinese: fewer invented ones, and Chinese ones. */
function namesForChinese(draw) {
  const { random, from } = draw;
  const given = () => random() < 0.5 ? from('given') : joined(from('given'), from('given'), '');
  const chinese = () => joined(from('family'), given());
  const first = () => inventedOr(draw, 'name', 0.3, firstEnds);
  const last = () => inventedOr(draw, 'surname', 0.2, lastEnds);
  return {
    first,
    last,
    name: () => random() < 0.4 ? chinese() : first(),
    surname: () => random() < 0.5 ? from('family') : last(),
    city: () => from('city'),
  };
}

const naming = (draw, isChinese) => isChinese ? namesForChinese(draw) : westernNames(draw);

const spelled = {
  en: ' one two three four five six seven eight nine ten eleven twelve'.split(' '),
  de: ' eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf'.split(' '),
  fr: ' une deux trois quatre cinq six sept huit neuf dix onze douze'.split(' '),
};

/** A number from 13 to 99 in words. */
function inWords(n) {
  const tens = Math.floor(n / 10), ones = n % 10;
  const endings = {
    en: ' eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' '),
    de: ' elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn'.split(' '),
    fr: 'dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf'.split(' '),
  };
  const names = {
    en: ' _ twenty thirty forty fifty sixty seventy eighty ninety'.split(' '),
    de: ' _ zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' '),
    fr: ' _ vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' '),
  };
  const all = {
    en: names.en[tens] + (ones ? `-${spelled.en[ones]}` : ''),
    de: (ones ? `${ones === 1 ? 'ein' : spelled.de[ones]}und` : '') + names.de[tens],
    fr: inFrench(tens, ones, names.fr, endings.fr),
    zh: inChinese(n),
  };
  return tens === 1 ? { ...all, en: endings.en[ones], de: endings.de[ones], fr: endings.fr[ones] } : all;
}

/** From 20 on: soixante-dix and quatre-vingt-dix count on from ten. */
function inFrench(tens, ones, names, endings) {
  const isOfTen = tens === 7 || tens === 9;
  const and = ones === 1 && tens < 8 ? ' et ' : '-';
  const unit = ones === 1 ? 'un' : spelled.fr[ones];
  const ending = isOfTen ? endings[ones] : unit;
  if (ending) return names[tens] + and + ending;
  return names[tens] + (tens === 8 ? 's' : '');
}

const chineseHours = (n) => [`${n === 2 ? '两' : inChinese(n)}点`, `${n}点`];

/** Half an hour or a quarter past the full hour, or a quarter to it. */
function spokenTime(part, full) {
  const next = full % 12 + 1, previous = (full + 10) % 12 + 1;
  const hours = full === 1 ? ['une heure'] : [`${full} heures`, `${spelled.fr[full]} heures`];
  const french = (ending) => full === 12 ? `midi${ending.replace('demie', 'demi')}` : hours.map((text) => text + ending);
  const after = (n, ending) => chineseHours(n).map((text) => text + ending);
  const en = [part.replace('quarter', 'a quarter'), part].flatMap((text) => [`${text} ${spelled.en[full]}`, `${text} ${full}`]);
  return {
    'half past': { en, de: `halb ${spelled.de[next]}`, fr: french(' et demie'), zh: after(full, '半') },
    'quarter past': { en, de: `Viertel nach ${spelled.de[full]}`, fr: french(' et quart'), zh: after(full, '一刻') },
    'quarter to': { en, de: `Viertel vor ${spelled.de[full]}`, fr: french(' moins le quart'), zh: after(previous, '三刻') },
  }[part];
}

function fullHour(full) {
  return {
    en: [`${full} o'clock`, `${spelled.en[full]} o'clock`],
    de: [`${full} Uhr`, `${full === 1 ? 'ein' : spelled.de[full]} Uhr`],
    fr: full === 1 ? '1 heure' : `${full} heures`,
    zh: [...chineseHours(full).toReversed(), `${full}点钟`],
  };
}

function clockTime(hour, minute) {
  const text = `${hour}:${minute}`;
  return {
    en: text,
    de: [`${text} Uhr`, `${hour}.${minute} Uhr`],
    fr: [`${hour} h ${minute}`, `${hour}h${minute}`, text],
    zh: [`${hour}点${minute}分`, text],
  };
}

function date(day, month) {
  const ending = ['th', 'st', 'nd', 'rd'][day > 10 && day < 20 ? 0 : day % 10] ?? 'th';
  return {
    en: [`${month.en} ${day}`, `${month.en} ${day}${ending}`, `${day} ${month.en}`, `the ${day}${ending} of ${month.en}`],
    de: `${day}. ${month.de}`,
    fr: `${day === 1 ? '1er' : day} ${month.fr}`,
    zh: [`${month.zh}${day}日`, `${month.zh}${day}号`],
  };
}

/** Numbers, amounts, times and dates; where a language writes them in several ways, the first is for a target. */
function counting({ random, any, range, from }) {
  const withPoint = (text) => ({ ...same(text), de: text.replace('.', ','), fr: text.replace('.', ',') });
  const letter = () => any([...'ABCDEFGHJKLMNPRSTUVWXYZ']);
  return {
    number: () => same(`${any([range(2, 9), range(2, 9), range(10, 99), range(10, 99), range(100, 999)])}`),
    spelt: () => inWords(range(13, 99)),
    few: () => same(`${range(2, 12)}`),
    decimal: () => withPoint(`${range(0, 40)}.${any([range(1, 9), pad(range(1, 99))])}`),
    big() {
      const n = range(1000, any([9999, 99999, 999999]));
      return { en: grouped(n, ','), de: grouped(n, '.'), fr: grouped(n, ' '), zh: `${n}` };
    },
    age(n = range(3, 99)) {
      return { ...same(`${n}`), zh: [`${n}`, inChinese(n)] };
    },
    price() {
      const number = withPoint(random() < 0.5 ? `${any([range(2, 99), range(100, 2000)])}` : `${range(0, 99)}.${pad(range(1, 99))}`);
      if (random() < 0.8) return joined(number, from('currency'));
      return { en: `€${number.en}`, de: `${number.de} €`, fr: `${number.fr} €`, zh: `${number.zh}欧元` };
    },
    time() {
      const hour = range(0, 23), full = range(1, 12), minute = pad(range(1, 59));
      if (random() < 0.25) return spokenTime(any(['half past', 'quarter past', 'quarter to']), full);
      return random() < 0.4 ? fullHour(full) : clockTime(hour, minute);
    },
    date: () => date(range(1, 28), from('month')),
    year: () => same(`${random() < 0.7 ? range(1950, 2030) : range(1500, 1949)}`),
    roomnumber: () => same(`${range(100, 999)}`),
    phone: () => same(any([`0${range(100, 999)} ${range(100000, 9999999)}`, `${range(200, 999)}-${range(1000, 9999)}`, `${range(100000, 9999999)}`])),
    code: () => same(any([`${letter()}${range(1, 99)}${letter()}${range(0, 9)}`, `${range(1000, 9999)}`, `${letter()}${letter()}-${range(100, 999)}`])),
  };
}

const contracted = (french) =>
  french.replace(/\b(d|qu|j)e (?!onze)(?=[AEIOUYÉÂ])/gi, "$1'").replace(/\bde les? /g, (word) => word === 'de le ' ? 'du ' : 'des ');

/** One phrase filled: its text in English and in the other language. */
function filled(phrase, draw, source, target) {
  const makers = { ...measures(draw), ...naming(draw, source === 'zh' || target === 'zh'), ...counting(draw) }, values = {};
  const alternative = (list, language) => language === source ? draw.any(list) : list[0];
  const value = (slot, language) => {
    const kind = slot.replace(/\d$/, '');
    values[slot] ??= makers[kind]?.() ?? draw.from(kind);
    return alternative([values[slot][language]].flat(), language);
  };
  if (phrase.en.includes('{sum}')) {
    const sum = ['number', 'number2'].map((slot) => Number(value(slot, 'en'))).reduce((a, b) => a + b);
    values.sum = same(`${sum}`);
  }
  return [source, target].map((language) => {
    const text = alternative(phrase[language].split(' | '), language);
    const result = text.replace(/\{(\w+)(?::(\d))?\}/g, (_, slot, form = 0) => {
      const forms = value(slot.toLowerCase(), language).split('/');
      const word = forms[form] ?? forms[0];
      return /^[A-Z]/.test(slot) ? word[0].toUpperCase() + word.slice(1) : word;
    });
    return language === 'fr' ? contracted(result) : result;
  });
}

/** `book`: rows such as those of phrases.tsv. */
export function pairs({ languages: [source, target], count, seed = 1, held = kept(), book = phrases }) {
  const draw = drawing(seeded(seed)), result = [];
  while (result.length < count) {
    const pair = filled(draw.any(book), draw, source, target);
    if (pair.some((side) => held.sentences.has(plain(side)) || (side.match(/[\p{L}-]+/gu) ?? []).some((word) => held.names.has(word))))
      continue;
    result.push(source === 'en' ? pair : pair.toReversed());
  }
  return result;
}

function main() {
  const { values } = parseArgs({
    options: { languages: { type: 'string' }, count: { type: 'string', default: '6000' }, seed: { type: 'string', default: '1' } },
  });
  const named = (values.languages ?? '').split('-');
  if (named.length !== 2 || !named.includes('en') || !named.every((language) => languages.includes(language)))
    throw new Error('usage: phrases.mjs --languages de-en [--count 6000] [--seed 1]');
  for (const pair of pairs({ languages: named, count: Number(values.count), seed: Number(values.seed) })) console.log(pair.join('\t'));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main();
