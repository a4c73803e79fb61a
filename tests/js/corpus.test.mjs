// Parts of corpora to train, validate and test on (web/models/corpus.mjs).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { flaw, readPairs, tidy } from '../../web/models/corpus.mjs';

test('useless pairs are told apart from good ones', () => {
  const of = (...pair) => flaw(pair, 20);
  assert.equal(of('Tom has 3 dogs.', 'Tom hat 3 Hunde.'), '');
  assert.equal(of('The weather is nice today.', '今天天气很好。'), '');
  assert.equal(of('Tom has 3 dogs.', 'Tom hat 4 Hunde.'), 'numbers');
  assert.equal(of('We left.', 'Nachdem wir lange gewartet hatten, gingen wir endlich fort.'), 'unequal');
  assert.equal(of('Call foo(x) first.', 'Rufe zuerst foo(x) auf.'), 'code');
  assert.equal(of('OK!', 'ok'), 'identical');
  assert.equal(of('word '.repeat(21).trim(), 'Wort '.repeat(21).trim()), 'long');
  assert.equal(tidy('„Er«  sagte – nichts…'), '"Er" sagte - nichts...');
});

test('parts share no sentence with each other or a held-out file, and repeat no pair', () => {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
  const path = (name) => join(folder, name);
  // Every German sentence stands beside two English ones.
  const pairs = Array.from({ length: 200 }, (_, i) => [`This is word ${i}.`, `Dies ist Wort ${i}.`]);
  const more = pairs.map(([, german], i) => [`That is the word ${i}.`, german]);
  const tsv = (rows) => rows.map((row) => row.join('\t') + '\n').join('');
  writeFileSync(path('a.tsv.gz'), gzipSync(tsv([...pairs, ...more, ...pairs])));
  writeFileSync(path('kept.tsv'), tsv([['Something else.', 'Dies ist Wort 7!']]));
  const script = fileURLToPath(new URL('../../web/models/corpus.mjs', import.meta.url));
  const made = () => {
    const { status, stderr } = spawnSync(process.execPath, [script, '--output', path('out'), '--kept', path('kept.tsv'),
      '--valid', '20', '--test', '10', `words=${path('a.tsv.gz')}:250`]);
    assert.equal(status, 0, String(stderr));
    return ['train', 'valid', 'test'].map((part) => readPairs(path(`out/${part}.tsv`)));
  };
  const parts = made();
  assert.deepEqual(made(), parts);
  assert.equal(parts[0].length, 250);
  assert.ok(parts[1].length >= 20 && parts[2].length >= 10);
  const german = parts.map((part) => new Set(part.map((pair) => pair[1])));
  assert.ok(german.every((one, i) => german.every((other, j) => i === j || ![...one].some((text) => other.has(text)))));
  assert.ok(!german.some((part) => part.has('Dies ist Wort 7.')));
  const all = parts.flat().map((pair) => pair.join('\t'));
  assert.equal(new Set(all).size, all.length);
  assert.match(String(spawnSync(process.execPath, [script, '--output', path('out'), 'nothing']).stderr), /is not NAME=FILE/);
  rmSync(folder, { recursive: true });
});
