// Measures whether signs, addresses and placeholders in a text survive its translation, and leave its words alone:
//   node web/models/kept.mjs signs MODEL PAIRS.tsv --columns 1,0 --count 600 [--wrong]
//   node web/models/kept.mjs messages MODEL CATALOGUES --count 1000 [--wrong]
//   node web/models/kept.mjs places MODEL DIRECTION [--wrong]
// `signs` adds one of many signs to each of COUNT short source sentences of PAIRS, and compares the translation with that
// of the sentence alone; a name, or a sign between two words, may change it. `messages` translates English messages of
// programs with printf placeholders, from a folder as prepare.mjs takes it, and lets `msgfmt --check` judge the
// translations. `places` translates the sentences of places.tsv from and to the languages of DIRECTION, such as de-en, and
// asks whether what is kept stands between the same words as in the translation there; other places may be right too, and
// are judged by hand.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mo } from 'gettext-parser';
import { drawn, inDrawnOrder, readPairs } from './corpus.mjs';
import { translate } from './program.mjs';

const MOST_LETTERS = 60;
const MOST_OF_PROGRAM = 100;

const { values, positionals: [command, model, file] } = parseArgs({
  allowPositionals: true,
  options: {
    columns: { type: 'string', default: '0,1' }, count: { type: 'string', default: '600' }, wrong: { type: 'boolean' },
    program: { type: 'string', default: 'build/native/wasmformer' },
  },
});
const count = Number(values.count);

const translated = (texts) => translate(values.program, model, texts);

// What is put before, after, around or inside a text. Of `kept`, the translation must have every part.
const marks = ['→', '➜', '⇒', '✓', '★', '☑', '•', '·', '▪', '◦', '#', '##', '-', '*', '+', '>', '1.', 'a)', '(2)', '[3]', '§', '†', '|'];
const emoji = [
  '😀', '😂', '🎉', '❤️', '👍🏽', '🇩🇪', '👩‍💻', '🚀', '🐶', '☕', '🙏', '😢', '🤔', '🔥', '✨', '🌍', '⚠️', '✅', '🏳️‍🌈', '1️⃣',
];
const names = ['@ana', '@max_m', '#news', '#ai2026', 'https://example.org/a?b=1', 'www.example.com', 'info@example.org',
  '192.168.0.1', '/usr/local/bin', 'C:\\Users\\ana', '`npm test`', 'max_length', '{name}', '{{user}}', '%s', '%1$d', ':smile:', '${HOME}'];
const pairsOfMarks = ['"|"', '„|“', '«|»', '‹|›', '“|”', '‘|’', '「|」', '【|】', '[|]', '(|)', '{|}', '<<|>>', '**|**', '__|__', '~~|~~', '*|*'];

const signs = [
  ...marks.map((mark) => ({ kind: 'mark', before: `${mark} `, kept: [] })),
  ...['→', '➜', '★', '®', '™', '°', '|', '…'].map((mark) => ({ kind: 'mark', after: ` ${mark}`, kept: [] })),
  ...emoji.flatMap((one) => [{ kind: 'emoji', before: `${one} `, kept: [one] }, { kind: 'emoji', after: ` ${one}`, kept: [one] }]),
  ...names.flatMap((one) => [{ kind: 'name', before: `${one} `, kept: [one] }, { kind: 'name', after: ` ${one}`, kept: [one] }]),
  ...[...emoji, ...names].map((one) => ({ kind: 'inside', inside: one, kept: [one] })),
  ...pairsOfMarks.map((pair) => pair.split('|')).map(([before, after]) => ({ kind: 'brackets', before, after, kept: [] })),
];

// Before, after or around a text, a sign must change no word. A name is a word of its own, and so is a sign between words.
const isAround = ({ kind }) => kind !== 'name' && kind !== 'inside';

// With the sign; inside a text it stands after a word that is drawn.
function withSign(text, { before = '', after = '', inside }) {
  if (inside === undefined) return `${before}${text}${after}`;
  const words = text.split(' ');
  const place = 1 + Math.floor(drawn(text, 'place') * (words.length - 1));
  return [...words.slice(0, place), inside, ...words.slice(place)].join(' ');
}

const wordsOf = (text) => text.toLowerCase().match(/\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu) ?? [];

function measureSigns() {
  const [source] = values.columns.split(',').map(Number);
  const sentences = inDrawnOrder(readPairs(file).map((pair) => pair[source]), (text) => text, 'signs')
    .filter((text) => text.length <= MOST_LETTERS).slice(0, count);
  const chosen = sentences.map((text) => signs[Math.floor(drawn(text, 'sign') * signs.length)]);
  const withSigns = sentences.map((text, i) => withSign(text, chosen[i]));
  const plain = translated(sentences);
  const changed = translated(withSigns);
  const invented = (i) => {
    const known = new Set([plain[i], ...chosen[i].kept].flatMap(wordsOf));
    const numbers = wordsOf(`${chosen[i].before ?? ''} ${chosen[i].after ?? ''}`);
    return wordsOf(changed[i]).filter((word) => !known.has(word) && !numbers.includes(word));
  };
  const faults = {
    'with words that the plain translation lacks': (i) => invented(i).length > 0,
    'without what must be kept': (i) => chosen[i].kept.some((part) => !changed[i].includes(part)),
    'with characters that are broken': (i) => changed[i].includes('\uFFFD'),
  };
  const groups = {
    'a sign at the edge': (i) => isAround(chosen[i]),
    'a name, or a sign between two words': (i) => !isAround(chosen[i]),
  };
  for (const [group, isOfGroup] of Object.entries(groups)) {
    const all = [...sentences.keys()].filter(isOfGroup);
    console.log(`${all.length} sentences with ${group}`);
    for (const [name, isWrong] of Object.entries(faults)) {
      const wrong = all.filter(isWrong);
      console.log(`${name}: ${wrong.length} (${(100 * wrong.length / all.length).toFixed(1)}%)`);
      if (!values.wrong) continue;
      for (const i of wrong) console.log(`  ${withSigns[i]}\n    alone: ${plain[i]}\n    with:  ${changed[i]}`);
    }
  }
}

// The originals of a catalogue that are one line with words and printf placeholders.
function originalsOf(catalogue) {
  const contexts = Object.values(mo.parse(readFileSync(catalogue)).translations);
  const entries = contexts.flatMap((context) => Object.values(context));
  const isMessage = (text) => /%(\d+\$)?[sdu]/.test(text) && /\p{L}{3}/u.test(text) && !/[\n%]%|\n/.test(text);
  return entries.filter(({ msgid, msgid_plural: plural }) => !plural && isMessage(msgid)).map(({ msgid }) => msgid);
}

// Different messages of all catalogues in a folder; at most MOST_OF_PROGRAM of one catalogue.
function messagesOf(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.mo')).sort();
  const found = new Set();
  for (const name of names) {
    const unseen = originalsOf(join(folder, name)).filter((text) => !found.has(text));
    for (const text of unseen.slice(0, MOST_OF_PROGRAM)) found.add(text);
  }
  return { messages: inDrawnOrder([...found], (text) => text, 'messages').slice(0, count), programs: names.length };
}

const quoted = (text) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\t', '\\t')}"`;

// Of a message with its translation, what msgfmt says; nothing if it is right.
function complaints(messages, translations) {
  const folder = mkdtempSync(join(tmpdir(), 'messages-'));
  const header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n';
  const entries = messages.map((text, i) => `#, c-format\nmsgid ${quoted(text)}\nmsgstr ${quoted(translations[i])}\n\n`);
  const catalogue = join(folder, 'messages.po');
  writeFileSync(catalogue, header + entries.join(''));
  const { stderr, error } = spawnSync('msgfmt', ['--check-format', '--output-file', '/dev/null', catalogue], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  if (error) throw error;
  return stderr.split('\n').filter((line) => /messages\.po:\d+/.test(line));
}

// In any order, with or without numbers: a translation in another order has %2$s for %s.
const directive = /%(?:\d+\$)?([-#0 +']*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[a-zA-Z%])/g;
const placeholdersOf = (text) => [...text.matchAll(directive)].map(([, conversion]) => conversion).sort().join(' ');

function measureMessages() {
  const { messages, programs } = messagesOf(file);
  const translations = translated(messages);
  const lost = [...messages.keys()].filter((i) => placeholdersOf(messages[i]) !== placeholdersOf(translations[i]));
  const refused = complaints(messages, translations);
  console.log(`${messages.length} messages of ${programs} catalogues`);
  console.log(`without each placeholder once: ${lost.length}`);
  console.log(`refused by msgfmt: ${refused.length}`);
  if (!values.wrong) return;
  for (const i of lost) console.log(`  ${messages[i]}\n    ${translations[i]}`);
  console.log(refused.join('\n'));
}

/** Start and end of a kept part in a text; undefined if it is lost. Numbers may have other separators. */
function placeOf(text, kept) {
  const start = text.indexOf(kept);
  if (start >= 0) return [start, start + kept.length];
  const digits = /\p{L}|[{_]/u.test(kept) ? '' : kept.replace(/\D/gu, '');
  const isIt = ([found]) => digits && found.replace(/\D/gu, '') === digits;
  const number = [...text.matchAll(/\d[\d.,:\s-]*/gu)].find(isIt);
  return number && [number.index, number.index + number[0].length];
}

/** Counts words that both texts have once: on the `same` side of the kept part, and on the `other`. */
function sidesOf(texts, kept) {
  const places = texts.map((text) => placeOf(text, kept));
  if (!places.every(Boolean)) return undefined;
  const sides = texts.map((text, i) => [wordsOf(text.slice(0, places[i][0])), wordsOf(text.slice(places[i][1]))]);
  const once = (word) => sides.every(([left, right]) => [...left, ...right].filter((one) => one === word).length === 1);
  const shared = sides[0].flat().filter(once);
  const isOnOneSide = (word) => [0, 1].some((side) => sides.every((both) => both[side].includes(word)));
  const same = shared.filter(isOnOneSide).length;
  return { same, other: shared.length - same };
}

const MOST_ON_THE_OTHER_SIDE = 0.1;

function measurePlaces() {
  const lines = readFileSync(new URL('places.tsv', import.meta.url), 'utf8').trimEnd().split('\n');
  const [names, ...rows] = lines.map((line) => line.split('\t'));
  const [source, target] = file.split('-').map((language) => names.indexOf(language));
  const translations = translated(rows.map((row) => row[source]));
  const found = rows.map((row, i) => sidesOf([row[target], translations[i]], row[0]));
  const lost = [...rows.keys()].filter((i) => !found[i]);
  const isElsewhere = ({ same, other }) => same === 0 || other > MOST_ON_THE_OTHER_SIDE * (same + other);
  const elsewhere = [...rows.keys()].filter((i) => found[i] && isElsewhere(found[i]));
  console.log(`${rows.length} sentences`);
  console.log(`without what must be kept: ${lost.length}`);
  console.log(`perhaps in another place: ${elsewhere.length}`);
  if (!values.wrong) return;
  for (const i of [...lost, ...elsewhere])
    console.log(`  ${rows[i][source]}\n    ${translations[i]}\n    reference: ${rows[i][target]}`);
}

const commands = { signs: measureSigns, messages: measureMessages, places: measurePlaces };
if (!commands[command] || !file)
  throw new Error('usage: kept.mjs signs MODEL PAIRS | messages MODEL CATALOGUES | places MODEL DIRECTION');
commands[command]();
