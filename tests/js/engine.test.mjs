// The synchronous engine on one thread: both builds, C++ objects and memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { detectBuild } from '../../dist/builds.js';
import { Engine } from '../../dist/engine.js';
import { fixtureBytes, sentences } from './support.mjs';

// Before Node 21, relaxed SIMD is behind this flag.
setFlagsFromString('--experimental-wasm-relaxed-simd');
if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-liftoff'); // whose first compiler adds up wrong
const bytes = fixtureBytes();

async function withEngine(body, build) {
  const engine = await Engine.create(build);
  engine.load(bytes);
  try {
    await body(engine);
  } finally {
    engine.dispose();
    assert.equal(engine.liveObjects, 0);
  }
}

test('relaxed SIMD is taken where it is there', () => assert.equal(detectBuild(), 'relaxed'));

test('without WebAssembly SIMD there is one clear sentence', (t) => {
  t.mock.method(WebAssembly, 'validate', () => false);
  assert.throws(() => detectBuild(), { message: /^\[build\] this browser has no WebAssembly SIMD/ });
});

test('without relaxed SIMD the plain build is taken', (t) => {
  const { validate } = WebAssembly;
  t.mock.method(WebAssembly, 'validate', (code) => !code.includes(147) && validate(code));
  assert.equal(detectBuild(), 'simd');
});

test('where relaxed SIMD adds up wrong the plain build is taken', (t) => {
  t.mock.method(WebAssembly, 'Instance', function Instance() {
    return { exports: { f: () => 24 } };
  });
  assert.equal(detectBuild(), 'simd');
});

test('both builds translate alike', async () => {
  const texts = {};
  for (const build of ['relaxed', 'simd']) {
    await withEngine((engine) => {
      assert.equal(engine.build, build);
      texts[build] = engine.translate(sentences).map(({ text }) => text);
    }, build);
  }
  assert.deepEqual(texts.relaxed, texts.simd);
});

test('no C++ object outlives its use, whatever happens', () =>
  withEngine((engine) => {
    assert.equal(engine.liveObjects, 1);
    engine.translate(sentences, { attention: true, nBest: 2, topTokens: 2, beamTrace: true, internals: true });
    assert.throws(() => engine.translate(sentences, { maskedSource: [99] }), /source position 99/);
    assert.throws(() => engine.translate(['Haus '.repeat(5000)]), /the model takes/);
    assert.throws(() => engine.translate(sentences, { nBest: 9 }));
    assert.equal(engine.liveObjects, 1);
    const job = engine.start(sentences);
    job.step();
    job.step();
    assert.equal(engine.liveObjects, 2);
    job.dispose();
    job.dispose();
    assert.equal(engine.liveObjects, 1);
    assert.throws(() => engine.load(bytes.subarray(0, 1000)));
    assert.equal(engine.liveObjects, 0);
    assert.throws(() => engine.translate(sentences), { message: '[engine] no model is loaded' });
  }));

test('memory does not grow with the number of calls, failures, or models', () =>
  withEngine((engine) => {
    const work = () => {
      engine.load(bytes);
      engine.translate(sentences, { attention: true, beamTrace: true, internals: true, maskedSource: [0] });
      for (let i = 0; i < 4; i++) assert.throws(() => engine.translate(['Haus '.repeat(5000)]));
      for (let i = 0; i < 2; i++) assert.throws(() => engine.load(bytes.subarray(0, bytes.length - 1)));
      engine.load(bytes);
      engine.start(sentences).dispose();
    };
    work();
    work();
    const size = engine.memoryBytes;
    for (let i = 0; i < 6; i++) work();
    assert.equal(engine.memoryBytes, size);
  }));
