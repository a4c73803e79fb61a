// Several models in one worker: turns, errors, the end of each, and what is left of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Engine } from '../../dist/worker/engine.js';
import { Trainer, Translator } from '../../dist/index.js';
import { fixtureBytes, fixturePath, sentences, serve } from './support.mjs';

const bundled = new URL('../../web/public/models/de-en.safetensors', import.meta.url);

/** How many workers `body` starts. */
async function workersOf(body) {
  const { postMessage } = Worker.prototype;
  const seen = new Set();
  Worker.prototype.postMessage = function (...values) {
    seen.add(this);
    return postMessage.apply(this, values);
  };
  try {
    await body();
  } finally {
    Worker.prototype.postMessage = postMessage;
  }
  return seen.size;
}

test('models can share a worker and its threads, and each translates as it does alone', async () => {
  const file = (path) => new Uint8Array(readFileSync(path));
  const engine = await Engine.create({ threads: 2 });
  const alone = [fixturePath, bundled].map((path) => engine.load(file(path)).translate(sentences));
  const workers = await workersOf(async () => {
    const first = await Translator.load(fixturePath, { threads: 2 });
    const second = await Translator.load(bundled, { shareWith: first });
    const trainer = await Trainer.create({ task: 'reverse', shareWith: second });
    assert.deepEqual([first, second, trainer].map(({ info }) => info.threads), [2, 2, 2]);
    const both = await Promise.all([first, second].map((translator) => translator.translate(sentences)));
    assert.deepEqual(both, alone);
    const [, two] = both;
    for await (const { step } of trainer.run({ steps: 3, reportEvery: 1 })) {
      assert.ok(step <= 3);
      assert.equal((await second.translate(sentences[0])).text, two[0].text);
    }
    first.dispose();
    await assert.rejects(first.translate('Danke!'), { message: '[translator] it has been disposed of' });
    assert.equal((await second.translate(sentences[0])).text, two[0].text);
    await trainer.translate('abc');
    trainer.dispose();
    second.dispose();
    await assert.rejects(Translator.load(fixturePath, { shareWith: second }), /shareWith cannot be used: .*disposed of/);
  });
  assert.equal(workers, 1);
});

test('disposing of a busy model, or aborting a load, does not affect the others', async (t) => {
  const first = await Translator.load(fixturePath);
  const second = await Translator.load(fixturePath, { shareWith: first });
  const waiting = second.translate(Array(5000).fill(sentences[2]));
  const { text } = await first.translate(sentences[0]);
  second.dispose();
  await assert.rejects(waiting, { message: '[translator] it has been disposed of' });

  let closed;
  const hasClosed = new Promise((resolve) => (closed = resolve));
  const endless = await serve(t, (_, response) => {
    response.on('close', closed);
    response.writeHead(200, { 'content-length': 1e9 });
    const bytes = fixtureBytes();
    response.write(bytes.subarray(0, 5000));
    const more = setInterval(() => response.write(bytes.subarray(0, 1000)), 5);
    response.on('close', () => clearInterval(more));
  });
  const controller = new AbortController();
  const onProgress = () => controller.abort();
  const load = Translator.load(endless, { shareWith: first, signal: controller.signal, onProgress });
  await assert.rejects(load, { name: 'AbortError' });
  await hasClosed;
  await assert.rejects(Translator.load(fixtureBytes().subarray(0, 100), { shareWith: first }), /the given bytes: \[/);
  assert.equal((await first.translate(sentences[0])).text, text);
  first.dispose();
});

test("threads and shareWith exclude each other, and shareWith takes only the package's own objects", async () => {
  const first = await Translator.load(fixturePath, { threads: 1 });
  const both = { threads: 2, shareWith: first };
  await assert.rejects(Translator.load(fixturePath, both), { message: /^\[load\] threads is 2, but shareWith uses/ });
  await assert.rejects(Trainer.create({ task: 'copy', ...both }), { message: /^\[train\] threads is 2, but/ });
  await assert.rejects(Translator.load(fixturePath, { shareWith: {} }), {
    message: '[load] shareWith must be a Translator, a Classifier, a Tagger or a Trainer, not an object (Object)',
  });
  first.dispose();
});

test('after 1,000 loads, uses and disposals no C++ object is left, and memory has not grown', async () => {
  const engine = await Engine.create();
  const bytes = fixtureBytes();
  let size;
  for (let i = 0; i < 1000; i++) {
    const translator = engine.load(bytes);
    translator.translate(sentences[i % sentences.length], { beamSize: 1 + (i % 3), attention: i % 2 === 0 });
    translator.dispose();
    if (i === 20) size = engine.memoryBytes;
  }
  assert.equal(engine.liveObjects, 0);
  assert.equal(engine.memoryBytes, size);
});

test('after 1,000 loads and disposals in one worker memory has hardly grown', async () => {
  const first = await Translator.load(fixturePath, { threads: 1 });
  const { text } = await first.translate(sentences[3]);
  const bytes = fixtureBytes();
  let resident;
  for (let i = 0; i < 1500; i++) {
    const translator = await Translator.load(bytes, { shareWith: first });
    assert.equal((await translator.translate(sentences[3])).text, text);
    translator.dispose();
    if (i === 499) resident = process.memoryUsage().rss; // the heap has found its size
  }
  const growth = (process.memoryUsage().rss - resident) / resident;
  assert.ok(growth < 0.2, `grown by ${(100 * growth).toFixed(0)} %`);
  first.dispose();
});

test('200 aborts at any moment: none is late, and the translator keeps working', async () => {
  const translator = await Translator.load(fixturePath);
  const { text } = await translator.translate(sentences[2]);
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let i = 0; i < 200; i++) {
    const controller = new AbortController();
    let late = 0;
    const onPartial = () => (late += controller.signal.aborted);
    const call = translator.translate(Array(200).fill(sentences[2]), { signal: controller.signal, onPartial });
    setTimeout(() => controller.abort(), 30 * random());
    await assert.rejects(call, { name: 'AbortError' });
    assert.equal((await translator.translate(sentences[2])).text, text);
    assert.equal(late, 0);
  }
  translator.dispose();
});
