// The bundled model says the same natively and in all WebAssembly builds. The sentences are the first 200 of the
// test part of a Tatoeba corpus, English TAB German (tatoeba.org, by way of manythings.org/anki, CC BY 2.0 FR).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { Engine } from '../../dist/engine.js';

setFlagsFromString('--experimental-wasm-relaxed-simd'); // Node before 21
const root = join(import.meta.dirname, '../..');
const model = join(root, 'web/public/models/de-en.safetensors');
const sentences = readFileSync(join(root, 'tests/fixtures/tatoeba-en-de-test-200.tsv'), 'utf8').trim().split('\n')
  .map((line) => line.split('\t')[1]);
const native = (beamSize) => spawnSync(join(root, 'build/native/wasmformer'),
  ['translate', '--model', model, '--beam-size', String(beamSize)], { input: sentences.join('\n') + '\n', encoding: 'utf8' })
  .stdout.trim().split('\n');

for (const [build, threads] of [['relaxed', 1], ['simd', 1], ['relaxed', 2], ['simd', 2]]) {
  for (const beamSize of [1, 4]) {
    test(`200 sentences, ${build}, threads ${threads}, beam ${beamSize}`, async () => {
      const engine = await Engine.create(build, threads);
      engine.load(new Uint8Array(readFileSync(model)));
      const expected = native(beamSize);
      assert.equal(expected.length, sentences.length);
      assert.deepEqual(engine.translate(sentences, { beamSize }).map(({ text }) => text), expected);
      engine.dispose();
    });
  }
}
