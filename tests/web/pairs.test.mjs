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

const tableOf = async (content, name = 'x') => {
  const found = await pairs.read({ files: [new File([content], name)] });
  return { ...found, ...pairs.make(found, { ...found, ...filters }) };
};

test('a first pair of words is no header: only names of columns are, in both', async () => {
  const lists = [
    ['to be', 'sein', 'to have', 'haben', 'to go', 'gehen'], ['ja', 'yes', 'nein', 'no', 'Hund', 'dog'],
    ['dog', 'Hund', 'cat', 'Katze', 'house', 'Haus'], ['Output', 'Ausgabe', 'Source', 'Quelle', 'Target', 'Ziel'],
    ['From here', 'Von hier', 'Text me', 'Schreib mir', 'Input', 'Eingabe'], ['for', 'für', 'to', 'zu', 'or', 'oder'],
    ['1', 'one', '2', 'two', '3', 'three'], ['it', 'es', 'no', 'de', 'is', 'ist'],
    ['question', 'answer', 'source', 'target', 'input', 'output'],
  ];
  for (const cells of lists) {
    const rows = [0, 2, 4].map((at) => cells.slice(at, at + 2).join('\t'));
    const { header, source, pairs: count, languages, tsv } = await tableOf(`${rows.join('\n')}\n`);
    assert.deepEqual([header, source, count, languages, tsv], [false, 0, 3, '', rows.join('\n')], cells.join());
  }
  const headers = {
    'de\ten': 'de-en', 'ENG\tDEU': 'eng-deu', 'German\tEnglish': '', 'Source text\tTarget text': '', 'from\tto': '',
    'source_sentence\ttranslation': '',
  };
  for (const [header, languages] of Object.entries(headers)) {
    const found = await tableOf(`${header}\nHund\tdog\nKatze\tcat\n`);
    assert.deepEqual([found.header, found.source, found.languages, found.pairs], [true, 0, languages, 2], header);
  }
  const wide = await tableOf('id\ttarget\tnotes\tsource\n1\tA b\tx y\tC d\n2\tE f\tz\tG h\n');
  assert.deepEqual([wide.header, wide.source, wide.target], [true, 3, 1]);
  const files = (a, b) => pairs.read({ files: [new File(['x\ny\n'], a), new File(['z\nw\n'], b)] });
  assert.equal((await files('train.de', 'train.en.txt')).header, true);
  assert.equal((await files('one.txt', 'two.txt')).header, false, 'no languages');
});

test('tables are read as Excel, pandas and Sheets write them', async () => {
  const kilometers = ['1,5', '2,5', '3,5'].map((number) => [`${number} km`, `${number.replace(',', '.')} km`]);
  const tsv = kilometers.map((row) => row.join('\t')).join('\n');
  assert.equal((await tableOf(kilometers.map((row) => row.join(';')).join('\r\n'), 'x.csv')).tsv, tsv);
  assert.equal((await tableOf('sep=;\r\nde;en\r\nHund;dog\r\nKatze;cat\r\n', 'x.csv')).tsv, 'Hund\tdog\nKatze\tcat');
  assert.equal((await tableOf('\ufeffsep=#\nHund, du#dog; you\nKatze#cat\n')).tsv, 'Hund, du\tdog; you\nKatze\tcat');
  const commas = await tableOf('Hallo, du;Hello, you\nHallo, ihr;Hello, all\n', 'x.csv');
  assert.equal(commas.tsv, 'Hallo, du\tHello, you\nHallo, ihr\tHello, all');
  const cells = ['"He said ""hi"""\t"Er sagte ""hallo"""', '"line\r\nbreak"\t"Zeilen\r\numbruch"', 'Good\tGut', ''];
  const quoted = await tableOf(cells.join('\r\n'), 'x.tsv');
  assert.equal(quoted.tsv, 'He said "hi"\tEr sagte "hallo"\nline break\tZeilen umbruch\nGood\tGut');
  const spoken = '"Hi," he said.\t„Hallo“, sagte er.\n"Who?" I asked.\t"Wer?", fragte ich.\n5" long\t5" lang';
  assert.equal((await tableOf(`${spoken}\n`)).tsv, spoken, 'quotes of a text stay');
});

test('gzip files may have several members, and what looks like one inside another is its content', async () => {
  const members = Buffer.concat(['a b\tc d\ne f\t', 'g h\n', 'i\tj\n'].map((part) => gzipSync(part)));
  assert.equal((await tableOf(members, 'x.tsv.gz')).tsv, 'a b\tc d\ne f\tg h\ni\tj');
  const text = Buffer.from('a\tb\nc\td\n');
  const named = Buffer.concat([gzipSync(text).subarray(0, 10), Buffer.from([0x1f, 0x8b, 8, 0]), gzipSync(text).subarray(10)]);
  named[3] = 8; // the member has a file name, which here looks like the beginning of another
  assert.equal((await tableOf(named, 'x.gz')).tsv, 'a\tb\nc\td');
  for (const bad of [members.subarray(0, -3), Buffer.concat([members, Buffer.from('junk')])]) {
    await assert.rejects(tableOf(bad, 'x.tsv.gz'), { bad: 'binary' });
  }
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

test('pairs that people type, with a dash, an equals sign, an arrow or a bar between the sides, are read', async () => {
  for (const sign of [' - ', ' – ', ' = ', '=', ' → ', '→', ' -> ', ' | ', '|']) {
    const text = [['Guten Tag, Anna', 'Hello, Anna'], ['ein Nicht-Raucher', 'a non-smoker'], ['Danke', 'thanks, a lot']]
      .map((pair) => pair.join(sign)).join('\n');
    const read = await pairs.read({ text });
    assert.equal(pairs.make(read, { ...read, ...filters }).tsv,
      'Guten Tag, Anna\tHello, Anna\nein Nicht-Raucher\ta non-smoker\nDanke\tthanks, a lot', sign);
  }
  const prose = 'It was late - very late.\nNobody came.\nWe left - at last - and slept.\n';
  await assert.rejects(pairs.read({ text: prose }), { bad: 'oneColumn' });
  const table = await tableOf('a = b,c = d\ne = f,g = h\n', 'x.csv');
  assert.equal(table.tsv, 'a = b\tc = d\ne = f\tg = h');
});
