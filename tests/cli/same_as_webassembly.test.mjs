// Models say the same natively and in all WebAssembly builds. The sentences are the first 200 of the
// test part of a Tatoeba corpus, English TAB German (tatoeba.org, by way of manythings.org/anki, CC BY 2.0 FR).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { Engine } from '../../dist/engine.js';

setFlagsFromString('--experimental-wasm-relaxed-simd'); // Node before 21
if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-liftoff'); // whose first compiler adds up wrong
const root = join(import.meta.dirname, '../..');
// Weights of int8 round activations to 127 steps, so a last bit that differs between processors may become a step,
// and turn a near tie.
const models = [
  { name: 'float', file: 'tests/fixtures/tiny-de-en.safetensors', mayDiffer: 0 },
  { name: 'int8', file: 'web/public/models/de-en.safetensors', mayDiffer: 5 },
];
const sentences = readFileSync(join(root, 'tests/fixtures/tatoeba-en-de-test-200.tsv'), 'utf8').trim().split('\n')
  .map((line) => line.split('\t')[1]);
const native = (file, beamSize) => spawnSync(join(root, 'build/native/wasmformer'),
  ['translate', '--model', join(root, file), '--beam-size', String(beamSize)],
  { input: sentences.join('\n') + '\n', encoding: 'utf8' }).stdout.replace(/\n$/, '').split('\n');

for (const { name, file, mayDiffer } of models) {
  for (const beamSize of [1, 4]) {
    const expected = native(file, beamSize);
    for (const [build, threads] of [['relaxed', 1], ['simd', 1], ['relaxed', 2], ['simd', 2]]) {
      test(`200 sentences, ${name}, ${build}, threads ${threads}, beam ${beamSize}`, async () => {
        const engine = await Engine.create(build, threads);
        engine.load(new Uint8Array(readFileSync(join(root, file))));
        const texts = engine.translate(sentences, { beamSize }).map(({ text }) => text);
        assert.equal(texts.length, expected.length);
        const differing = texts.map((text, i) => [text, expected[i]]).filter(([ours, theirs]) => ours !== theirs);
        assert.ok(differing.length <= mayDiffer, JSON.stringify(differing, null, 1));
        engine.dispose();
      });
    }
  }
}
