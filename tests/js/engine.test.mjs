// The synchronous engine on one thread: both builds, C++ objects and memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { build as bundle } from 'esbuild';
import { detectBuild } from '../../dist/worker/instance.js';
import { Engine } from '../../dist/worker/engine.js';
import { Translator } from '../../dist/index.js';
import { fixtureBytes, sentences } from './support.mjs';

// Before Node 21, relaxed SIMD is behind this flag.
setFlagsFromString('--experimental-wasm-relaxed-simd');
if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-liftoff'); // whose first compiler adds up wrong
const bytes = fixtureBytes();

async function withEngine(body, build) {
  const engine = await Engine.create({ build });
  const translator = engine.load(bytes);
  try {
    await body(engine, translator);
  } finally {
    translator.dispose();
    assert.equal(engine.liveObjects, 0);
  }
}

test('relaxed SIMD is used if available', () => assert.equal(detectBuild(), 'relaxed'));

test('without WebAssembly SIMD there is one clear error message', (t) => {
  t.mock.method(WebAssembly, 'validate', () => false);
  assert.throws(() => detectBuild(), { message: /^\[build\] this browser has no WebAssembly SIMD/ });
});

test('without relaxed SIMD the plain build is used', (t) => {
  const { validate } = WebAssembly;
  t.mock.method(WebAssembly, 'validate', (code) => !code.includes(147) && validate(code));
  assert.equal(detectBuild(), 'simd');
});

test('if relaxed SIMD gives wrong sums, the plain build is used', (t) => {
  t.mock.method(WebAssembly, 'Instance', function Instance() {
    return { exports: { f: () => 24 } };
  });
  assert.equal(detectBuild(), 'simd');
});

test('both builds give the same translations', async () => {
  const texts = {};
  for (const build of ['relaxed', 'simd']) {
    await withEngine((engine, translator) => {
      assert.equal(engine.build, build);
      texts[build] = translator.translate(sentences).map(({ text }) => text);
    }, build);
  }
  assert.deepEqual(texts.relaxed, texts.simd);
});

test("an engine's translator does the same as one in a worker, synchronously", () =>
  withEngine(async (_, blocking) => {
    const translator = await Translator.load(bytes);
    assert.deepEqual({ ...blocking.info, threads: 0 }, { ...translator.info, threads: 0 });
    for (const options of [{}, { attention: true, nBest: 3, topTokens: 2 }, { prefix: 'Perhaps', internals: true }]) {
      const mine = blocking.translate(sentences[1], options);
      const its = await translator.translate(sentences[1], options);
      assert.deepEqual(JSON.parse(JSON.stringify(mine)), JSON.parse(JSON.stringify(its)));
      if (options.attention) assert.deepEqual(mine.attention.cross.map(1, 0), its.attention.cross.map(1, 0));
    }
    const partials = [[], []];
    blocking.translate(sentences, { onPartial: (texts) => partials[0].push(texts) });
    await translator.translate(sentences, { onToken: (texts) => partials[1].push(texts) });
    assert.ok(partials[0].length > 3);
    assert.deepEqual(partials[0], partials[1]);
    translator.dispose();
    assert.throws(() => blocking.translate('Danke!', { signal: new AbortController().signal }), /^Error: \[translate\] signal/);
    assert.throws(() => blocking.translate('Danke!', { beamsize: 1 }), /'beamsize'/);
  }));

test("an engine's translator translates a text sentence by sentence, as one in a worker does", () =>
  withEngine(async (_, blocking) => {
    const translator = await Translator.load(bytes);
    const text = ` ${sentences[0]} ${sentences[1]}\n\n  ${sentences[2]}\n`;
    const mine = blocking.translateText(text, { beamSize: 2 });
    assert.equal(mine.sentences.length, 3);
    assert.deepEqual(JSON.parse(JSON.stringify(mine)), JSON.parse(JSON.stringify(await translator.translateText(text, { beamSize: 2 }))));
    translator.dispose();
    assert.ok(blocking.translateText('Wort '.repeat(300)).sentences.length > 1, 'a sentence that is too long is cut');
    assert.deepEqual(blocking.translateText(' \n'), { text: ' \n', sentences: [] });
    for (const text of [5, ['Danke!']]) assert.throws(() => blocking.translateText(text), { code: 'translate', name: 'TypeError' });
    for (const name of ['onPartial', 'onToken']) {
      assert.throws(() => blocking.translateText('Danke!', { [name]() {} }), { code: 'unknown-option', details: { option: name } });
    }
  }));

test('several models can live in one engine, and each is freed separately', () =>
  withEngine((engine, first) => {
    const second = engine.load(bytes);
    const [{ text }] = first.translate(sentences);
    first.dispose();
    first.dispose();
    assert.equal(engine.liveObjects, 1);
    assert.throws(() => first.translate('Danke!'), { message: '[engine] the model has been disposed of' });
    assert.equal(second.translate(sentences)[0].text, text);
    second.dispose();
  }));

test('no C++ object outlives its use, whatever happens', () =>
  withEngine((engine, translator) => {
    assert.equal(engine.liveObjects, 1);
    translator.translate(sentences, { attention: true, nBest: 2, topTokens: 2, beamTrace: true, internals: true });
    assert.throws(() => translator.translate(sentences, { maskedSource: [99] }), /source position 99/);
    assert.throws(() => translator.translate(['Haus '.repeat(5000)]), /the model takes/);
    assert.throws(() => translator.translate(sentences, { nBest: 9 }));
    const mine = new Error('mine');
    const onPartial = () => {
      throw mine;
    };
    assert.throws(() => translator.translate(sentences, { onPartial }), mine);
    assert.equal(engine.liveObjects, 1);
    const steps = translator.steps(sentences, '{}', true);
    steps.next();
    assert.equal(engine.liveObjects, 2);
    steps.return();
    steps.return();
    assert.equal(engine.liveObjects, 1);
    assert.throws(() => engine.load(bytes.subarray(0, 1000)));
    assert.equal(engine.liveObjects, 1);
  }));

test('a model may be disposed of in a callback of its own call, which then ends with the code disposed', async () => {
  const engine = await Engine.create();
  const [gone, other] = [engine.load(bytes), engine.load(bytes)];
  const call = () => gone.translate(sentences[0], { onPartial: () => gone.dispose() });
  assert.throws(call, { code: 'disposed' });
  assert.throws(() => gone.translate(sentences[0]), { code: 'disposed' });
  assert.notEqual(other.translate(sentences[0]).text, '');
  other.dispose();
  assert.equal(engine.liveObjects, 0);
});

test('an engine loads an ArrayBuffer, too, and says what is no file', async () => {
  const engine = await Engine.create();
  const translator = engine.load(new Uint8Array(bytes).buffer);
  assert.notEqual(translator.translate(sentences[0]).text, '');
  assert.throws(() => translator.translate(sentences[0], null), { message: /options must be an object, not null/ });
  engine.dispose();
  assert.throws(() => engine.load('model.safetensors'), { message: /^\[load\] the model must be a Uint8Array or an ArrayBuffer, not 'model/ });
});

test('memory does not grow with the number of calls, failures, or models', () =>
  withEngine((engine) => {
    const work = () => {
      const translator = engine.load(bytes);
      translator.translate(sentences, { attention: true, beamTrace: true, internals: true, maskedSource: [0] });
      for (let i = 0; i < 4; i++) assert.throws(() => translator.translate(['Haus '.repeat(5000)]));
      for (let i = 0; i < 2; i++) assert.throws(() => engine.load(bytes.subarray(0, bytes.length - 1)));
      const steps = translator.steps(sentences, '{}', false);
      steps.next();
      steps.return();
      translator.dispose();
    };
    work();
    work();
    const size = engine.memoryBytes;
    for (let i = 0; i < 6; i++) work();
    assert.equal(engine.memoryBytes, size);
  }));

test('a time goal reached between two steps still ends with a validation', async () => {
  const { beginTraining } = await import('../../dist/worker/training.js');
  const { checkRequest } = await import('../../dist/api/arguments.js');
  const engine = await Engine.create({ build: 'simd' });
  const { question } = checkRequest('train', { task: 'copy', config: { d_model: 16, ffn_dim: 32, num_heads: 2 } }, false);
  const training = await beginTraining(engine.instance, question, new Uint8Array());
  try {
    const steps = training.run(JSON.stringify({ minutes: 0.5 / 60, reportEvery: 1000 }));
    assert.equal(steps.next().value, undefined); // a step without an event
    await setTimeout(600); // another call takes the rest of the time
    assert.ok([...steps].at(-1)?.validation);
  } finally {
    training.dispose();
  }
});

const dist = new URL('../../dist/', import.meta.url);
const givenModule = async () => ({
  module: await WebAssembly.compile(await readFile(new URL('wasm/simd/wasmformer.wasm', dist))),
  factory: (await import(new URL('wasm/relaxed/wasmformer.mjs', dist))).default,
});

test('where scripts have no address and nothing may be compiled, the engine takes a compiled module', async () => {
  const script = await bundle({
    entryPoints: [fileURLToPath(new URL('worker/engine.js', dist))], bundle: true, write: false, format: 'iife', globalName: 'bundled', logLevel: 'error',
  });
  const { TextDecoder, URL: Address } = globalThis;
  const place = createContext({ TextDecoder, URL: Address, console }, { codeGeneration: { strings: false, wasm: false } });
  const { Engine: Here } = runInContext(`${script.outputFiles[0].text}; bundled`, place);
  const refused = await Here.create({ build: 'simd' }).catch((error) => error);
  assert.equal(refused.code, 'not-here');
  const engine = await Here.create({ ...await givenModule(), build: 'simd' });
  assert.deepEqual([engine.build, engine.threads], ['simd', 1]);
  const usual = (await Engine.create({ build: 'simd' })).load(bytes);
  assert.equal(engine.load(bytes).translate(sentences[1]).text, usual.translate(sentences[1]).text);
});

test('a given module is named relaxed unless build says otherwise, and is not probed', async (t) => {
  const { module, factory } = await givenModule();
  t.mock.method(WebAssembly, 'validate', () => assert.fail('it was probed'));
  assert.equal((await Engine.create({ module, factory })).build, 'relaxed');
});

test('the engine refuses options that it does not have, or that exclude each other', async () => {
  const { module, factory } = await givenModule();
  const refused = (options) => Engine.create(options).then(() => 'nothing', ({ code, details }) => [code, details.option]);
  assert.deepEqual(await refused({ thread: 2 }), ['unknown-option', 'thread']);
  assert.deepEqual(await refused({ threads: 0 }), ['option-value', 'threads']);
  assert.deepEqual(await refused({ build: 'plain' }), ['option-value', 'build']);
  assert.deepEqual(await refused({ module: bytes, factory }), ['option-value', 'module']);
  for (const options of [{ module }, { factory }, { module, factory, threads: 2 }, { module, factory, wasmURL: dist }]) {
    assert.deepEqual(await refused(options), ['engine', undefined]);
  }
});

test('the engine finds its modules at wasmURL', async () => {
  const engine = await Engine.create({ wasmURL: new URL('wasm', dist) });
  assert.notEqual(engine.load(bytes).translate(sentences[0]).text, '');
  await assert.rejects(Engine.create({ wasmURL: new URL('none', dist) }), { message: /\/none\/relaxed\/wasmformer\.mjs could not be loaded/ });
});

test('dispose() frees the models of an engine and ends its threads', async () => {
  const { Worker } = await import('node:worker_threads');
  for (const threads of [1, 2]) {
    const ended = [];
    const { terminate } = Worker.prototype;
    Worker.prototype.terminate = function () {
      ended.push(this);
      return terminate.call(this);
    };
    const engine = await Engine.create({ threads });
    const translator = engine.load(bytes);
    engine.dispose();
    engine[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    Worker.prototype.terminate = terminate;
    assert.equal(ended.length, threads - 1);
    assert.deepEqual([engine.threads, engine.liveObjects, engine.memoryBytes], [threads, 0, 0]);
    assert.throws(() => translator.translate('Danke!'), { code: 'disposed' });
    assert.throws(() => engine.load(bytes), { code: 'disposed' });
  }
});
