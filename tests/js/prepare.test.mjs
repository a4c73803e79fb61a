// The text that recipes train on (web/models/prepare.mjs), from small corpora, with a program that lengthens words instead of translating.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { mo } from 'gettext-parser';
import { key, readPairs } from '../../web/models/corpus.mjs';
import { drawing, numberPhrases, pairs as phrasePairs, seeded } from '../../web/models/phrases.mjs';
import { weighted } from '../../web/models/prepare.mjs';
import { agreedLabels, isHeldOut, shown } from '../../web/models/prepare/catalogues.mjs';
import { lexicon } from '../../web/models/prepare/lexicon.mjs';
import { digest, nearest, sentenceBleu } from '../../web/models/prepare/machine.mjs';
import { kinds } from '../../web/models/prepare/parts.mjs';
import { readRecipe } from '../../web/models/prepare/sources.mjs';
import { candidates, spanTokens, spansIn, withMarkedWord, withSpans } from '../../web/models/prepare/spans.mjs';

const models = fileURLToPath(new URL('../../web/models/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'prepare-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = (...names) => join(folder, ...names);
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const tsv = (rows) => gzipSync(rows.map((row) => row.join('\t') + '\n').join(''));

const names = ['Tom', 'Anna', 'Emil', 'Clara', 'Boris'], things = ['house', 'garden', 'cat', 'letter', 'bicycle'];
const german = { house: 'Haus', garden: 'Garten', cat: 'Katze', letter: 'Brief', bicycle: 'Fahrrad' };
const pairOf = (i) => {
  const name = names[i % 5], thing = things[Math.floor(i / 5) % 5];
  return [`${name} saw the ${thing} number ${i}, and it was old.`, `${name} sah ${german[thing]} Nummer ${i}, und es war alt.`];
};
const range = (from, to) => Array.from({ length: to - from }, (_, i) => pairOf(from + i));
write(path('corpora/tatoeba-en-de/train.tsv.gz'), tsv(range(0, 300)));
write(path('corpora/tatoeba-en-de/valid.tsv.gz'), tsv(range(400, 420)));
write(path('corpora/tatoeba-en-de/test.tsv.gz'), tsv(range(500, 520)));
// Some sentences of the validation part are here too, and some that code makes useless without placeholders.
const docs = [...range(410, 460), ...range(600, 640).map(([a, b], i) => [`${a} Call open_file_${'abcdefgh'[i % 8]}() first.`, `${b} Rufe zuerst open_file_${'abcdefgh'[i % 8]}() auf.`])];
write(path('corpora/longer/docs/train.tsv.gz'), tsv(docs));
write(path('corpora/longer/mono.txt.gz'), gzipSync(range(400, 500).concat(range(700, 780)).map(([a]) => a + '\n').join('')));
const labels = Array.from({ length: 200 }, (_, i) => [`_Option ${String.fromCharCode(97 + i % 26)}${i} setting`, `_Einstellung ${String.fromCharCode(97 + i % 26)}${i}`]);
const messages = { '': { msgid: '', msgstr: ['Content-Type: text/plain; charset=UTF-8\n'] } };
for (const [msgid, msgstr] of [...labels, ['Cannot open file %s', 'Datei %s kann nicht geöffnet werden']]) messages[msgid] = { msgid, msgstr: [msgstr] };
write(path('corpora/catalogues/some-package/usr/share/locale/de/LC_MESSAGES/some.mo'), mo.compile({ charset: 'utf-8', translations: { '': messages } }));
write(path('models/en-de.safetensors'), 'a model');
write(path('program.mjs'), `#!${process.execPath}
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const [command, ...words] = process.argv.slice(2);
appendFileSync(${JSON.stringify(path('calls'))}, [command, ...words].join(' ') + '\\n');
if (command === 'tokenizer') writeFileSync(words.at(-1), 'pieces');
else process.stdout.write(readFileSync(0, 'utf8').replace(/[a-z]+/g, (word) => word + 'o'));
`);
chmodSync(path('program.mjs'), 0o755);

const recipe = {
  seed: 3, kept: ['tatoeba-en-de'], valid: 'tatoeba-en-de/valid.tsv.gz', validation: { 'short-pairs': 10, 'long-pairs': 5 },
  models: { 'en-de': digest('a model') },
  parts: [
    { name: 'short', kind: 'pairs', file: 'tatoeba-en-de/train.tsv.gz', weight: 1.5 },
    { name: 'long', kind: 'corpora', 'most-words': 60, valid: 6, test: 6, corpora: { 'longer/docs': {} } },
    { name: 'prose', kind: 'translated', model: 'en-de', beam: 1, words: [1, 30], texts: [{ file: 'longer/mono.txt.gz' }] },
    { name: 'phrases', kind: 'phrases', count: 50 },
    { name: 'numbers', kind: 'numbers', count: 50 },
    { name: 'labels', kind: 'catalogues', folder: 'catalogues', packages: { 'some-package': 'MIT' }, 'most-words': 9 },
  ],
  copies: { concat: 0.05, lowercase: 0.05, names: 0.1, signs: 0.1, no_final_punctuation: 0.05 },
  spans: 0.14,
  tokenizer: { sentences: 100, 'vocab-size': 300, 'byte-fallback': true },
};
function prepare(output, changes = {}) {
  write(path('recipe.json'), `// A recipe.\n${JSON.stringify({ prepare: { ...recipe, ...changes }, train: {} })}`);
  return spawnSync(process.execPath, [join(models, 'prepare.mjs'), 'de-en', path('corpora'), '--recipe', path('recipe.json'), '--output', path(output),
    '--models', path('models'), '--program', path('program.mjs')], { encoding: 'utf8', env: { ...process.env, XDG_CACHE_HOME: path('cache') } });
}
const calls = () => readFileSync(path('calls'), 'utf8').trim().split('\n').map((line) => line.split(' ')[0]);
const first = prepare('first');
const read = (name, output = 'first') => readPairs(path(output, name));

test('a recipe gives the same files again, and translations that are there are not made again', () => {
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /short: 300 pairs, taken 1\.5 times: 450\n/);
  assert.equal(prepare('second').status, 0);
  assert.deepEqual(calls(), ['translate', 'tokenizer', 'tokenizer']);
  for (const name of readdirSync(path('first'))) assert.equal(readFileSync(path('first', name), 'utf8'), readFileSync(path('second', name), 'utf8'), name);
  assert.match(readFileSync(path('calls'), 'utf8'), /tokenizer .*--vocab-size 300 --byte-fallback --symbols <n1>,.*,<s8> /);
  prepare('other', { seed: 4 });
  assert.notEqual(readFileSync(path('first/train.tsv'), 'utf8'), readFileSync(path('other/train.tsv'), 'utf8'));
});

test('each line has English first, whatever the part', () => {
  const lines = read('train.tsv');
  const words = (text) => text.match(/\p{L}+/gu) ?? [];
  const count = (side, known) => lines.filter((pair) => words(pair[side]).some((word) => known.includes(word.toLowerCase()))).length;
  const english = ['the', 'is', 'and', 'setting', 'are'], other = ['der', 'die', 'das', 'ist', 'und', 'einstellung', 'sind'];
  const counts = [count(0, english), count(1, other), count(1, english), count(0, other)];
  assert.ok(counts[0] > 0.5 * lines.length && counts[1] > 0.5 * lines.length, `${counts}`);
  assert.ok(counts[2] < 0.02 * lines.length && counts[3] < 0.02 * lines.length, `${counts}`);
});

test('nothing of a validation or test part is in the text to train on', () => {
  const kept = ['valid-long.tsv', 'test-long.tsv'].flatMap((name) => read(name));
  assert.equal(kept.length, 12);
  for (const name of ['valid', 'test']) kept.push(...readPairs(path(`corpora/tatoeba-en-de/${name}.tsv.gz`)));
  const keys = new Set(kept.flat().map(key));
  assert.ok(read('train.tsv').every((pair) => pair.every((side) => !keys.has(key(side)))));
  assert.ok(read('train.tsv').some(([english]) => english === pairOf(750)[0]), 'the rest of the prose is there');
});

test('labels whose hash says so are kept aside, whichever side has it', () => {
  const held = read('labels-held.tsv'), learned = read('train.tsv');
  const all = labels.map((pair) => pair.map(shown));
  assert.deepEqual(new Set(held.map(String)), new Set(all.filter((pair) => pair.some(isHeldOut)).map(String)));
  assert.ok(held.length > 5 && held.length < 40, `${held.length}`);
  assert.ok(!held.some(([english]) => learned.some(([text]) => text === english)));
  assert.ok(all.filter((pair) => !pair.some(isHeldOut)).every(([english]) => learned.some(([text]) => text === english)));
  assert.deepEqual([shown('Save _As…'), shown('另存为(~A)'), shown('Speichern & Schließen')], ['Save As...', '另存为', 'Speichern & Schließen']);
});

function writeCatalogue(name, pairs) {
  const entries = Object.fromEntries(pairs.map(([msgid, msgstr]) => [msgid, { msgid, msgstr: [msgstr] }]));
  const translations = { '': { '': messages[''], ...entries } };
  write(path(`two/${name}/usr/share/locale/de/LC_MESSAGES/${name}.mo`), mo.compile({ charset: 'utf-8', translations }));
}

test('labels to measure are kept aside, and two catalogues translate them alike', () => {
  const held = labels.filter((pair) => pair.map(shown).some(isHeldOut)), learned = labels.filter((pair) => !held.includes(pair));
  const [agreed, disputed, alone] = held;
  writeCatalogue('one', [agreed, disputed, learned[0], alone]);
  writeCatalogue('other', [agreed, [disputed[0], 'Anderes'], learned[0]]);
  symlinkSync('one.mo', path('two/one/usr/share/locale/de/LC_MESSAGES/one_as_before.mo')); // no second program
  assert.deepEqual(agreedLabels(path('two'), ['one', 'other'], 'de'), [agreed.map(shown)]);
});

/** Output of web/models/exact.mjs with a program that changes the text by `change`. */
function exact(change, ...args) {
  write(path('changing.mjs'), `#!${process.execPath}\nimport { readFileSync } from 'node:fs';\nprocess.stdout.write(readFileSync(0, 'utf8')${change});\n`);
  chmodSync(path('changing.mjs'), 0o755);
  const { stdout, stderr } = spawnSync(process.execPath, [join(models, 'exact.mjs'), ...args, '--program', path('changing.mjs')], { encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout;
}

test('numbers are right if their digits are, however a language separates them', () => {
  const numbers = (change) => exact(change, 'numbers', 'a model', 'de-en', '--count', '60');
  assert.match(numbers(".replaceAll('.', ' ')"), /^(\d+) of \1 sentences with numbers right \(100\.00%\)/);
  assert.match(numbers(".replace(/\\d/g, '$&$&')"), /^0 of \d+ sentences with numbers right/);
  const pairs = path('numbers.tsv');
  write(pairs, 'It costs 1,250 euros.\tEs kostet 1.250 Euro.\nIt costs 7 euros.\tEs kostet 8 Euro.\nYes.\tJa.\n');
  assert.match(exact('', 'numbers', 'a model', 'de-en', pairs), /^1 of 1 sentences with numbers right/);
});

test('about a seventh of the pairs have placeholders, each once and the same on both sides', () => {
  const all = read('train.tsv'), marked = all.filter((pair) => pair.some((text) => spansIn(text).length > 0));
  const share = marked.length / all.length;
  assert.ok(share > 0.12 && share < 0.15, `${share}`);
  for (const [a, b] of marked) {
    assert.deepEqual(spansIn(a), spansIn(b));
    assert.equal(new Set(spansIn(a)).size, spansIn(a).length, a);
  }
  for (const kind of ['n', 'w', 's']) assert.ok(marked.some(([text]) => text.includes(`<${kind}`)), kind);
  assert.ok(marked.some(([text]) => /Call <w\d> first/.test(text)), 'code is learned only as a placeholder');
  assert.ok(marked.some(([text]) => /Cannot open file <w\d>/.test(text)));
  assert.ok(!all.flat().some((text) => /open_file_|%s/.test(text)));
  assert.equal(new Set(spanTokens).size, 24);
});

test('what can be kept: addresses, code, numbers with their units, names; not what is different', () => {
  const found = (...pair) => candidates(pair).map(([a, b, kind]) => `${kind} ${a} = ${b}`).sort();
  assert.deepEqual(found('It costs 1,234.50 € and 5 km of wire.', 'Es kostet 1.234,50 € und 5 km Draht.'), ['n 1,234.50 € = 1.234,50 €', 'n 5 km = 5 km']);
  assert.deepEqual(found('Anna reads https://example.org/a_b now.', 'Anna liest jetzt https://example.org/a_b.'), ['w Anna = Anna', 'w https://example.org/a_b = https://example.org/a_b']);
  assert.deepEqual(found('Tom has 3 cats and 3 dogs.', '汤姆有3只猫和3只狗。'), ['w Tom = 汤姆']);
  assert.deepEqual(found('Gym is fun.', 'Gymnastik macht Spaß.'), [], 'a part of a word is not kept');
  assert.deepEqual(found('He has two cats.', 'Er hat zwei Katzen.'), []);
  assert.equal(withSpans(['He has two cats.', 'Er hat zwei Katzen.'], drawing(seeded(1))), undefined);
  for (let seed = 1; seed < 40; ++seed) {
    const pair = withSpans(['We can use UTF-8 or 8 bit, and more.', '我们可以用 UTF-8 或 8 比特，等等。'], drawing(seeded(seed)), 2);
    assert.deepEqual(spansIn(pair[0]), spansIn(pair[1]), `${pair}`);
    assert.ok(!/<[^nws]|<\w<|\d>>/.test(pair.join()), `${pair}`);
  }
});

test('signs enclose a word and its translation, on both sides alike', () => {
  const dictionary = new Map([['cat', 'Katze'], ['old', 'alt'], ['red', 'rot']]);
  const forms = new Set();
  for (let seed = 1; seed < 60; ++seed) {
    const pair = withMarkedWord(['The cat is old, not older.', 'Die Katze ist alt, nicht älter.'], drawing(seeded(seed)), dictionary);
    assert.deepEqual(spansIn(pair[0]), spansIn(pair[1]));
    const [marked, other] = pair.map((text) => text.replace(/<s\d>/g, '*').match(/\*( ?)(cat|Katze|old|alt)( ?\*)?/u));
    assert.deepEqual([dictionary.get(marked[2]), marked[1], marked[3]], [other[2], other[1], other[3]], `${pair}`);
    forms.add(`${marked[1]}${marked[3]}`);
  }
  assert.deepEqual([...forms].sort(), [' undefined', '  *', '*'].sort());
  assert.equal(withMarkedWord(['A cat saw a cat.', 'Eine Katze sah eine Katze.'], drawing(seeded(1)), dictionary), undefined);
});

test('numbers of every kind are written as each language writes them', () => {
  const made = phrasePairs({ languages: ['en', 'de'], count: 600, seed: 2, book: numberPhrases });
  assert.ok(made.every((pair) => pair.every((text) => !/[{}]|undefined|NaN/.test(text))));
  const digits = (text) => text.replace(/\D/g, '');
  const prices = made.filter(([english]) => /^Price: /.test(english));
  assert.ok(prices.length > 5);
  for (const [english, other] of prices) assert.equal(digits(english), digits(other), `${english} ${other}`);
  assert.ok(made.some(([english, other]) => /\d,\d{3}\.\d/.test(english) && /\d\.\d{3},\d/.test(other)));
  for (const phrase of numberPhrases) {
    const slots = Object.values(phrase).map((text) => [...text.matchAll(/\{(\w+)/g)].map(([, slot]) => slot).sort().join());
    assert.deepEqual([Object.keys(phrase).length, new Set(slots).size], [4, 1], JSON.stringify(phrase));
  }
});

test('words that mostly stand beside each other are a dictionary', () => {
  const found = new Map(lexicon(range(0, 200), 'de'));
  for (const [english, other] of Object.entries(german)) assert.equal(found.get(english), other);
});

test('of several hypotheses the one nearest to the reference is taken', () => {
  assert.equal(nearest(['a dog', 'the old cat sat', 'the cat sat down'], 'The cat sat down.'), 'the cat sat down');
  assert.ok(sentenceBleu('他来了', '他来了。') > sentenceBleu('她走了', '他来了。'));
  assert.equal(weighted([['a', 'b'], ['c', 'd']], 2.5, 'salt').length, 5);
});

test('what is missing is named: a source, a package, a model, a part', () => {
  const problem = (changes) => prepare('bad', changes).stderr;
  const with_ = (part) => ({ parts: [{ ...part, name: 'x' }] });
  assert.match(problem(with_({ kind: 'pairs', file: 'nowhere/train.tsv.gz' })), /no source has nowhere\/train\.tsv\.gz; give a folder that is called nowhere/);
  assert.match(problem(with_({ ...recipe.parts[5], packages: { 'some-package': '', 'one-more': '' } })), /has no one-more; there: apt-get download one-more/);
  assert.match(problem({ models: { 'en-de': 'other' } }), /en-de\.safetensors is not the recipe's model, whose SHA-256 is other/);
  assert.match(problem(with_({ kind: 'brief', from: 'short' })), /has no part 'short' before/);
});

test('the recipe and the card of each direction are all that its folder has, and name kinds that there are', () => {
  for (const direction of ['de-en', 'en-de', 'en-zh', 'zh-en', 'fr-en']) {
    assert.deepEqual(readdirSync(join(models, direction)).sort(), ['card.json', 'recipe.json']);
    const { prepare: text, train } = readRecipe(join(models, direction, 'recipe.json'));
    for (const part of text.parts) assert.ok(kinds[part.kind], part.kind);
    assert.equal(train.languages, direction);
    assert.equal(train.columns, direction.startsWith('en-') ? '0,1' : '1,0');
    const card = JSON.parse(readFileSync(join(models, direction, 'card.json'), 'utf8'));
    assert.ok(Object.values(card).every((value) => typeof value === 'string') && card.licence && card['licence.zh']);
    for (const { packages = {} } of text.parts) for (const name of Object.keys(packages)) assert.ok(card.parts.includes(name), `${direction}: ${name}`);
  }
});
