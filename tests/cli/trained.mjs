// The program (the native one, or WASMFORMER_PROGRAM), as a user runs it, and a small model that it has trained.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { gzipSync } from 'node:zlib';

export const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
export const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

export const run = (args, options = {}) => spawnSync(program, args, { encoding: 'utf8', ...options });
export function succeed(...args) {
  const result = run(args);
  assert.equal(result.status, 0, `${args.join(' ')}: ${result.stderr}`);
  return result;
}
// Fails with exactly one line that matches.
export function refuse(pattern, args, options) {
  const result = run(args, options);
  assert.notEqual(result.status, 0, args.join(' '));
  const lines = result.stderr.trim().split('\n');
  assert.match(lines.at(-1), pattern);
  assert.ok(!/terminate|Assertion|core dumped/.test(result.stderr), result.stderr);
  assert.equal(result.signal, null);
}

// With files of so many kilobytes at most, as on a disk that is nearly full.
export const limited = (kilobytes, args) =>
  spawnSync('bash', ['-c', `trap "" XFSZ; ulimit -f ${kilobytes}; exec "$0" "$@"`, program, ...args], { encoding: 'utf8' });

// Numbers in words: "three four" and back as "4 3".
const words = ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];
function pairs(count, salt) {
  return Array.from({ length: count }, (_, i) => {
    const digits = [...String((i * 7919 + salt) % 1000).padStart(3, '0')];
    return [digits.map((d) => words[d]).join(' '), digits.reverse().join(' ')];
  });
}
export const training = ['train', '--valid-data', path('valid.tsv'), '--tokenizer', path('tok.model'), '--preset', 'tiny',
  '--set', 'd_model=32', '--set', 'ffn_dim=64', '--set', 'warmup_steps=50', '--batch-tokens', '200', '--languages', 'de-en'];
export const train = (output, ...more) => [...training, '--data', path('train.tsv.gz'), '--output', path(output), ...more];

before(() => {
  const tsv = (rows) => rows.map((row) => row.join('\t') + '\n').join('');
  writeFileSync(path('train.tsv.gz'), gzipSync(tsv(pairs(400, 1))));
  writeFileSync(path('valid.tsv'), tsv(pairs(20, 5)));
  for (const [i, name] of ['source', 'target'].entries())
    writeFileSync(path(name), pairs(20, 5).map((row) => row[i] + '\n').join(''));
  writeFileSync(path('text'), pairs(400, 1).flat().join('\n') + '\n');
  succeed('tokenizer', '--input', path('text'), '--vocab-size', '40', '--type', 'char', '--output', path('tok.model'));
  succeed(...train('run', '--max-steps', '300', '--report-every', '10', '--keep', '2'));
});
