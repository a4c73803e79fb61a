// The visitor's own pairs, as the Train view reads them from texts and files.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { load } from './load.mjs';

let pairs;
before(async () => (pairs = await load('train/read-pairs.ts')));

const filters = { lowercase: false, longest: 500 };

test('texts are read in every encoding, and columns are detected', async () => {
  const { make, read } = pairs;
  const table = async (content, name = 'x') => {
    const found = await read({ files: [new File([content], name)] });
    return { ...found, ...make(found, { ...found, ...filters }) };
  };
  const text = 'Grüße, Wörter\tGreetings, words\r\nJa — genau\tYes, indeed\r\n';
  const swapped = Buffer.from(text, 'utf16le').swap16();
  for (const bytes of [text, `\ufeff${text}`, Buffer.from(text, 'utf16le'), swapped, gzipSync(text), text.replaceAll('\r\n', '\r'), text.trimEnd()]) {
    assert.equal((await table(bytes)).tsv, 'Grüße, Wörter\tGreetings, words\nJa — genau\tYes, indeed');
  }
  await assert.rejects(table(Buffer.from('Gr\xfc\xdfe\tx\n', 'latin1')), { bad: 'binary' });
  const quoted = await table('source,target\n"one, two","a\nb"\n"say ""so""",c\nlast,d\n', 'x.csv');
  assert.equal(quoted.tsv, 'one, two\ta b\nsay "so"\tc\nlast\td');
  const anki = await table('Hi.\tHallo!\tCC-BY 2.0 (France) Attribution: tatoeba.org #1\nRun!\tLauf!\tCC-BY 2.0 (France)\n');
  assert.deepEqual([anki.source, anki.target, anki.header], [0, 1, false]);
  const download = await table('12\tHow are you?\t77\tWie geht es?\n13\tWhy?\t78\tWarum?\n');
  assert.deepEqual([download.source, download.target], [1, 3]);
  const named = await table('target\tsource\nx y\ta b\nz\tc\n');
  assert.deepEqual([named.tsv, named.header], ['a b\tx y\nc\tz', true]);
  assert.equal((await table('de,en\nja,yes\nnein,no\n')).languages, 'de-en');
});

test('each row that is no pair is counted under its reason, with the first of them', async () => {
  const rows = Array.from({ length: 40 }, (_, i) => `Satz Nummer ${i}.\tSentence number ${i}.`);
  const odd = ['Nur eins.', 'Nein.\t', 'Satz Nummer 1.\tSentence number 1.', `${'lang '.repeat(120)}\tlong`];
  const table = await pairs.read({ text: [...rows, ...odd, ''].join('\n') });
  const made = pairs.make(table, { ...table, ...filters });
  assert.equal(made.pairs, 40);
  const counted = Object.fromEntries(Object.entries(made.odd).map(([why, { count, rows }]) => [why, [count, rows[0].row]]));
  assert.deepEqual(counted, { missing: [1, 41], empty: [1, 42], twice: [1, 43], long: [1, 44] });
  const lower = pairs.make(table, { ...table, ...filters, lowercase: true });
  assert.equal(lower.preview[0][0], 'satz nummer 0.');
  assert.equal(pairs.make(table, { ...table, ...filters, longest: 18 }).pairs, 10);
});

test('files without pairs are refused with a reason and its values', async () => {
  const file = (name, content) => new File([content], name);
  const refused = async (...files) => {
    const found = await pairs.read({ files }).then((table) => pairs.make(table, { ...table, ...filters })).catch((error) => error);
    return [found.bad, found.values];
  };
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 200, 201]);
  assert.deepEqual((await refused(file('poem.txt', 'One line, of a poem\nand another\nand, well, one more\n')))[0], 'oneColumn');
  assert.deepEqual((await refused(file('one.tsv', 'Hallo\tHello\n')))[0], 'tooFew');
  assert.deepEqual((await refused(file('picture.png', png)))[0], 'binary');
  assert.deepEqual((await refused(file('bomb.gz', gzipSync(Buffer.alloc(6e7, 'a\tb\n')))))[0], 'big');
  assert.deepEqual((await refused(file('a.txt', 'a\nb\nc\n'), file('b.txt', 'a\nb\n')))[0], 'lines');
  assert.deepEqual((await refused(file('empty.tsv', '')))[0], 'none');
});
