// Several threads: where they are to be had, that they change nothing but the time, and that they end.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { Engine } from '../../dist/worker/engine.js';
import { WorkerEngine } from '../../dist/worker/worker-engine.js';
import { Translator } from '../../dist/index.js';
import { threadCount } from '../../dist/api/threads.js';
import { fixtureBytes, fixturePath, sentences } from './support.mjs';

setFlagsFromString('--experimental-wasm-relaxed-simd'); // Node before 21
if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-liftoff'); // whose first compiler adds up wrong
const most = Math.min(availableParallelism(), 8);

for (const build of ['relaxed', 'simd']) {
  test(`${build}: 1, 2 and 3 threads give the same bits`, async () => {
    const results = [];
    for (const threads of [1, 2, 3]) {
      const translator = (await Engine.create({ build, threads })).load(fixtureBytes());
      const { info } = translator;
      assert.deepEqual([info.build, info.threads], [build, threads]);
      const many = Array.from({ length: 40 }, (_, i) => sentences[i % sentences.length]);
      const seen = translator.translate(many, { beamSize: 3, attention: true, topTokens: 2 });
      results.push(seen.map(({ attention, ...rest }) => ({ ...rest, cross: attention.cross.data })));
      results.push(translator.translate(many, { sampling: { seed: 5 } }));
      translator.dispose();
    }
    assert.deepEqual(results.slice(2, 4), results.slice(0, 2));
    assert.deepEqual(results.slice(4, 6), results.slice(0, 2));
  });
}

test('the threads stay for later models, which reuse the memory', async () => {
  const engine = await Engine.create({ threads: 3 });
  const work = () => {
    const translator = engine.load(fixtureBytes());
    const [{ text }] = translator.translate(sentences);
    translator.dispose();
    return text;
  };
  const text = work();
  work();
  const size = engine.memoryBytes;
  for (let i = 0; i < 4; i++) assert.equal(work(), text);
  assert.equal(engine.memoryBytes, size);
});

test("'auto' uses the cores, up to 8; a number is used as given", async () => {
  for (const [threads, expected] of [[undefined, most], ['auto', most], [1, 1], [2, 2], [3, 3]]) {
    const translator = await Translator.load(fixturePath, { threads });
    assert.equal(translator.info.threads, expected);
    translator.dispose();
  }
});

test('without shared memory there is one thread, and more are refused', async (t) => {
  const { validate } = WebAssembly;
  t.mock.method(WebAssembly, 'validate', (code) => !code.includes(254) && validate(code));
  assert.equal(await threadCount('auto'), 1);
  assert.equal(await threadCount(1), 1);
  await assert.rejects(threadCount(2), {
    message: /^\[load\] threads is 2, but there is no shared WebAssembly memory here; .* use 1 or 'auto'$/,
  });
});

test("if shared memory cannot be allocated, 'auto' works without it", async (t) => {
  const { Memory } = WebAssembly;
  t.mock.method(WebAssembly, 'Memory', function (options) {
    if (options.shared) throw new RangeError('WebAssembly.Memory(): could not allocate memory');
    return new Memory(options);
  });
  const engine = await WorkerEngine.createWithin(2);
  assert.equal(engine.threads, 1);
  assert.notEqual(engine.loadFor('translate', fixtureBytes()).translate(sentences)[0].text, '');
  await assert.rejects(Engine.create({ threads: 2 }), RangeError);
});

const onLinux = { skip: process.platform !== 'linux' && 'only Linux lists the threads of a process' };
test('dispose ends the threads together with the worker', onLinux, async () => {
  const count = () => readdirSync('/proc/self/task').length;
  (await Translator.load(fixturePath, { threads: 1 })).dispose(); // what Node itself starts is there now
  await setTimeout(100);
  const before = count();
  const translator = await Translator.load(fixturePath, { threads: 4 });
  assert.ok(count() >= before + 4, `${count()} threads, ${before} before`);
  translator.dispose();
  while (count() > before) await setTimeout(10);
});
