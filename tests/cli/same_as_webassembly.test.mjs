// Models say the same natively and in all WebAssembly builds. The sentences are the first 200 of the
// test part of a Tatoeba corpus, English TAB German (tatoeba.org, by way of manythings.org/anki, CC BY 2.0 FR).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { Engine } from '../../dist/worker/engine.js';

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
        const engine = await Engine.create({ build, threads });
        const translator = engine.load(new Uint8Array(readFileSync(join(root, file))));
        const texts = translator.translate(sentences, { beamSize }).map(({ text }) => text);
        assert.equal(texts.length, expected.length);
        const differing = texts.map((text, i) => [text, expected[i]]).filter(([ours, theirs]) => ours !== theirs);
        assert.ok(differing.length <= mayDiffer, JSON.stringify(differing, null, 1));
        translator.dispose();
      });
    }
  }
}

test('masks give the same scores and attention natively and in WebAssembly', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const model = join(root, models[0].file);
  const translator = (await Engine.create({ build: 'simd' })).load(new Uint8Array(readFileSync(model)));
  t.after(() => translator.dispose());
  const cases = [
    [['--mask-source', '0,2'], { maskedSource: [0, 2] }],
    [['--mask-heads', 'cross:1:3,encoder:0:1'],
      { maskedHeads: [{ attention: 'cross', layer: 1, head: 3 }, { attention: 'encoder', layer: 0, head: 1 }] }],
    [['--prefix', 'Perhaps', '--mask-heads', 'decoder:0:0'],
      { prefix: 'Perhaps', maskedHeads: [{ attention: 'decoder', layer: 0, head: 0 }] }],
  ];
  const some = sentences.slice(0, 20);
  const texts = translator.translate(some).map(({ text }) => text);
  for (const [flags, options] of cases) {
    const maps = join(folder, 'maps.json');
    const { stdout, stderr } = spawnSync(join(root, 'build/native/wasmformer'),
      ['translate', '--model', model, '--scores', '--attention', maps, ...flags],
      { input: some.join('\n') + '\n', encoding: 'utf8' });
    const lines = stdout.trimEnd().split('\n').map((line) => line.split('\t'));
    const attention = JSON.parse(readFileSync(maps));
    const found = translator.translate(some, { ...options, attention: true });
    assert.equal(lines.length, some.length, stderr);
    assert.notDeepEqual(found.map(({ text }) => text), texts);
    found.forEach((translation, i) => {
      assert.equal(translation.text, lines[i][1]);
      assert.ok(Math.abs(translation.score - Number(lines[i][0])) < 1e-3);
      for (const kind of ['encoder', 'decoder', 'cross']) {
        const { data } = translation.attention[kind];
        assert.equal(data.length, attention[i][kind].data.length);
        data.forEach((p, at) => assert.ok(Math.abs(p - attention[i][kind].data[at]) < 1e-3));
      }
    });
  }
});
