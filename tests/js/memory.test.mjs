// The option maximumMemory: it bounds the memory of every build, and what needs more is refused with a code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trainer, Translator, WasmformerError } from '../../dist/index.js';
import { Engine } from '../../dist/worker/engine.js';
import { fixtureBytes, fixturePath, sentences } from './support.mjs';

const least = 2 ** 25;
const large = Array(400).fill(sentences[2]);
const isOutOfMemory = (error) => {
  assert.ok(error instanceof WasmformerError);
  assert.equal(error.code, 'out-of-memory');
  assert.equal(error.message, `[memory] there is not enough memory for this, since maximumMemory is ${least} bytes`);
  assert.deepEqual(error.details, { maximumMemory: least });
  return true;
};

for (const threads of [1, 3]) {
  test(`threads: ${threads}: the memory stays within maximumMemory, and what needs more leaves the engine usable`, async () => {
    const free = await Engine.create({ threads });
    const expected = free.load(fixtureBytes()).translate(sentences);
    const engine = await Engine.create({ threads, maximumMemory: least });
    const translator = engine.load(fixtureBytes());
    assert.deepEqual(translator.translate(sentences), expected);
    assert.throws(() => translator.translate(large, { attention: true, internals: true }), isOutOfMemory);
    assert.ok(engine.memoryBytes <= least, `${engine.memoryBytes} bytes`);
    assert.deepEqual(translator.translate(sentences), expected);
    assert.throws(() => engine.load(new Uint8Array(least)), isOutOfMemory);
    engine.dispose();
    free.dispose();
  });
}

test('a Translator has its own maximumMemory, and says so when a call needs more', async () => {
  for (const threads of [1, 2]) {
    const translator = await Translator.load(fixturePath, { threads, maximumMemory: least });
    assert.equal(translator.info.threads, threads);
    await assert.rejects(translator.translate(large, { attention: true, internals: true }), isOutOfMemory);
    assert.notEqual((await translator.translate(sentences[0])).text, '');
    translator.dispose();
  }
});

test('training that needs more than maximumMemory is refused before it begins', async () => {
  const run = { task: 'copy', preset: 'small', threads: 1, maximumMemory: 2 ** 28 };
  await assert.rejects(Trainer.create(run), { code: 'training-memory' });
});

test('impossible values of maximumMemory are refused', async () => {
  for (const maximumMemory of [0, 256, 2 ** 33, '256 MB']) {
    await assert.rejects(Translator.load(fixturePath, { maximumMemory }), { code: 'option-value' });
    await assert.rejects(Engine.create({ maximumMemory }), { code: 'option-value' });
  }
  const first = await Translator.load(fixturePath, { threads: 1 });
  await assert.rejects(
    Translator.load(fixturePath, { shareWith: first, maximumMemory: 2 ** 28 }),
    { message: '[load] maximumMemory is 268435456, but shareWith uses the memory of the other model' },
  );
  first.dispose();
});
