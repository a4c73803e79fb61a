// Models from everywhere, progress, integrity, and sources that fail.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { test } from 'node:test';
import { File } from 'node:buffer';
import { Translator } from '../../dist/index.js';
import { fixture, fixtureBytes, fixturePath, sentences, serve } from './support.mjs';

const bytes = fixtureBytes();
const digest = (data, algorithm = 'sha256') => `${algorithm}-${createHash(algorithm).update(data).digest('base64')}`;

async function translates(model, options) {
  const translator = await Translator.load(model, options);
  try {
    assert.equal(translator.info.bytes, bytes.length);
    return (await translator.translate(sentences[0])).text;
  } finally {
    translator.dispose();
  }
}

const serveModel = (t, headers = {}) =>
  serve(t, (request, response) => {
    if (request.url !== '/model.safetensors') return response.writeHead(404).end();
    response.writeHead(200, { 'content-length': bytes.length, ...headers }).end(bytes);
  });

test('paths, URLs, Blobs and bytes give the same translator', async (t) => {
  const view = new Uint8Array(bytes.length + 20);
  view.set(bytes, 11);
  const site = await serveModel(t);
  const texts = [];
  for (const model of [
    fixturePath,
    relative(process.cwd(), fixturePath),
    fixture,
    fixture.href,
    `${site}/model.safetensors`,
    new URL(`${site}/model.safetensors`),
    new Blob([bytes]),
    bytes.buffer,
    bytes,
    Buffer.from(bytes),
    view.subarray(11, 11 + bytes.length),
  ]) {
    texts.push(await translates(model));
  }
  assert.notEqual(texts[0], '');
  assert.deepEqual(texts, texts.map(() => texts[0]));
  assert.equal(bytes.length, bytes.buffer.byteLength, 'the given bytes stay with the caller');
});

test('a Buffer, a view into a larger one, and bytes loaded twice at once stay usable by the caller', async () => {
  const buffer = Buffer.alloc(bytes.length + 8, bytes);
  const view = buffer.subarray(0, bytes.length);
  const texts = await Promise.all([translates(view), translates(view), translates(Buffer.from(bytes))]);
  assert.equal(new Set(texts).size, 1);
  assert.equal(view.length, bytes.length);
  assert.equal(buffer.length, bytes.length + 8);
  assert.ok(view.equals(bytes));
});

test('info describes the model', async () => {
  const translator = await Translator.load(bytes);
  const { info } = translator;
  translator.dispose();
  assert.equal(info.languages, 'de-en');
  assert.ok(['f32', 'f16', 'int8'].includes(info.precision));
  assert.ok(['relaxed', 'simd'].includes(info.build));
  assert.equal(info.threads, Math.min(availableParallelism(), 8));
  assert.ok(info.parameters > info.config.d_model * info.config.target_vocab_size);
  assert.equal(info.config.d_model % info.config.num_heads, 0);
  assert.ok(!('config' in info.metadata) && !('source_tokenizer' in info.metadata));
});

test('progress rises to the size of the file', async (t) => {
  const site = await serveModel(t);
  for (const model of [`${site}/model.safetensors`, fixturePath, new Blob([bytes]), bytes]) {
    const seen = [];
    await translates(model, { onProgress: (...values) => seen.push(values) });
    assert.ok(seen.every(([loaded, total], i) => total === bytes.length && loaded >= (seen[i - 1]?.[0] ?? 1)));
    assert.equal(seen.at(-1)[0], bytes.length);
  }
});

test('the total is missing if the server does not send it', async (t) => {
  const site = await serve(t, (_, response) => response.writeHead(200).end(bytes));
  const seen = [];
  await translates(site, { onProgress: (loaded, total) => seen.push([loaded, total]) });
  assert.deepEqual(seen.at(-1), [bytes.length, undefined]);
});

test('an error in onProgress ends the load', async () => {
  const onProgress = () => {
    throw new Error('no more');
  };
  await assert.rejects(Translator.load(fixturePath, { onProgress }), { message: 'no more' });
});

test('integrity accepts the right file and names the digest of another', async () => {
  await translates(bytes, { integrity: digest(bytes) });
  await translates(fixturePath, { integrity: digest(bytes, 'sha512') });
  const wrong = digest('something else');
  await assert.rejects(Translator.load(fixturePath, { integrity: wrong }), (error) => {
    assert.ok(error.message.includes(digest(bytes)) && error.message.includes(wrong), error.message);
    assert.equal(error.message.split(fixturePath).length, 2, 'it is named once');
    return true;
  });
});

test('errors name the source that failed', async (t) => {
  const site = await serveModel(t);
  await assert.rejects(Translator.load('no/such.safetensors'), /no\/such\.safetensors could not be read: ENOENT/);
  await assert.rejects(Translator.estimate('no/such.safetensors'), { code: 'read-failed' });
  await assert.rejects(Translator.load('http://'), { message: "[load] 'http://' is no URL" });
  await assert.rejects(Translator.load(`${site}/other`), { message: `[load] ${site}/other answered 404 Not Found` });
  await assert.rejects(Translator.load('http://127.0.0.1:9/x'), /http:\/\/127\.0\.0\.1:9\/x could not be fetched/);
  const short = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 1000), () => response.destroy());
  });
  await assert.rejects(Translator.load(short), new RegExp(`the download of ${short}/ broke off`));
});

// In a process of its own, since the package looks for a document once, when it is imported.
test('a document in Node, as jsdom makes one, does not keep the package from the workers of Node', () => {
  const script = `globalThis.document = { baseURI: 'http://localhost/' };
    const { Translator } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url))});
    const translator = await Translator.load(${JSON.stringify(fixturePath)}, { threads: 1 });
    console.log(translator.info.threads);
    translator.dispose();`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(said, '1\n');
});

test('files that are not models are refused by name, at every length', async () => {
  await assert.rejects(Translator.load(new URL(import.meta.url)), /load\.test\.mjs is not a model file: /);
  for (const length of [0, 1, 8, 100, bytes.length >> 1, bytes.length - 1]) {
    await assert.rejects(Translator.load(bytes.subarray(0, length)), /^Error: the given bytes: \[/);
  }
});

test('a file that does not start like a model is refused before the rest has arrived', async (t) => {
  let closed;
  const hasClosed = new Promise((resolve) => (closed = resolve));
  const endless = await serve(t, (_, response) => {
    response.on('close', closed);
    response.writeHead(200, { 'content-length': 1e9 }).write('Once upon a time, ');
  });
  await assert.rejects(Translator.load(endless), { message: /^\[load\] .+ is not a model file: it does not begin as/ });
  await hasClosed;
  const seen = [];
  const text = new File([Buffer.alloc(3e6, 'text ')], 'notes.txt');
  const load = Translator.load(text, { onProgress: (loaded) => seen.push(loaded) });
  await assert.rejects(load, { message: /^\[load\] (notes\.txt|the given Blob) is not a model file: / });
  assert.deepEqual(seen, []);
});

test('an abort before or during the download rejects with its reason', async (t) => {
  await assert.rejects(Translator.load(bytes, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  const reason = new Error('changed my mind');
  await assert.rejects(Translator.load(bytes, { signal: AbortSignal.abort(reason) }), reason);

  let closed;
  const hasClosed = new Promise((resolve) => (closed = resolve));
  const slow = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 1000));
    response.on('close', closed);
  });
  const controller = new AbortController();
  const load = Translator.load(slow, { signal: controller.signal, onProgress: () => controller.abort(reason) });
  await assert.rejects(load, reason);
  await hasClosed;
});
