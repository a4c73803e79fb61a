// Runs that an older program began (commit 3d264aa) go on with the same numbers, bit by bit.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { reportsIn } from './reports.mjs';

const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const fixtures = join(import.meta.dirname, '../fixtures/3d264aa');
const file = (name) => join(fixtures, name);
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
after(() => rmSync(folder, { recursive: true, force: true }));

// The fixtures were made on an Intel processor with AVX-512. Compilers order sums otherwise for other processors, AMD's
// with the same vectors too, and for WebAssembly.
const processor = process.platform === 'linux' ? readFileSync('/proc/cpuinfo', 'utf8') : '';
const hasSameVectors = !process.env.WASMFORMER_PROGRAM && /\bavx512f\b/.test(processor);
const isSameProcessor = hasSameVectors && /GenuineIntel/.test(processor);
const closeness = hasSameVectors ? 1e-6 : 1e-3; // 6e-8 was seen on an AMD EPYC

const runs = {
  translate: ['--data', file('pairs.tsv'), '--validation', '4', '--seed', '3', '--augment', 'join=0.5', 'small=0.25', 'names=0.2',
    '--max-steps', '16'],
  annotate: ['--labels', file('labels.tsv'), '--tags', file('tags.conll'), '--validation', '6', '--max-steps', '16'],
  mask: ['--mono', file('text.txt'), '--validation', '6', '--max-steps', '16'],
  stored: ['--max-steps', '12'], // with the texts that the checkpoint holds
};

function compare(found, expected) {
  if (isSameProcessor) return assert.deepEqual(found, expected);
  assert.deepEqual(Object.keys(found), Object.keys(expected));
  for (const key of ['step', 'epoch', 'learning_rate']) assert.equal(found[key], expected[key]);
  const compared = hasSameVectors ? ['loss', 'valid_loss', 'gradient_norm'] : ['loss', 'valid_loss'];
  for (const key of compared.filter((key) => key in expected)) {
    const difference = Math.abs(found[key] - expected[key]);
    assert.ok(difference < closeness, `${key}: ${found[key]}, not ${expected[key]}`);
  }
}

for (const [name, options] of Object.entries(runs)) {
  for (const threads of ['1', '2']) {
    test(`a run of commit 3d264aa is resumed: ${name}, ${threads} threads`, () => {
      const output = join(folder, `${name}-${threads}`);
      mkdirSync(output);
      writeFileSync(join(output, 'last.safetensors'), gunzipSync(readFileSync(file(`${name}.safetensors.gz`))));
      const { status, stderr } = spawnSync(program,
        ['train', '--resume', '--output', output, '--report-every', '2', '--threads', threads, ...options], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      const found = reportsIn(join(output, 'log.jsonl'));
      const expected = reportsIn(file(`${name}.jsonl`));
      assert.equal(found.length, expected.length);
      found.forEach(({ seconds, target_tokens_per_second: speed, time: _, ...entry }, i) => {
        assert.equal(typeof seconds, 'number');
        assert.equal(typeof speed, 'number');
        compare(entry, expected[i]);
      });
    });
  }
}
