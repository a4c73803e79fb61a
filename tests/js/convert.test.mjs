// Models of other programs, read and written in the worker.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { File } from 'node:buffer';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exportMarian, exportOnnx, importBert, importMarian } from '../../dist/convert/index.js';
import { Classifier, Tagger, Translator } from '../../dist/index.js';
import { fixtureBytes, fixturePath, sentences, serve } from './support.mjs';

const folder = (name) => fileURLToPath(new URL(`../fixtures/marian/${name}`, import.meta.url));
const filesIn = (name) =>
  readdirSync(folder(name)).map((file) => new File([readFileSync(join(folder(name), file))], file));
const content = async (blob) => Buffer.from(await blob.arrayBuffer());
const expected = JSON.parse(readFileSync(folder('expected.json')));

/** Serves the folder `tiny` without a list of it; `missing` are not there. */
const serveFolder = (t, missing = []) =>
  serve(t, (request, response) => {
    const name = basename(request.url);
    if (missing.includes(name) || !readdirSync(folder('tiny')).includes(name)) return response.writeHead(404).end();
    const bytes = readFileSync(join(folder('tiny'), name));
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  });

async function opened(model, use) {
  const translator = await Translator.load(model);
  try {
    return await use(translator);
  } finally {
    translator.dispose();
  }
}

test('a folder gives the same model from a path, files, names or its address, with either kind of weights', async (t) => {
  const address = await serveFolder(t);
  const only = await serveFolder(t, ['model.safetensors']);
  const byName = Object.fromEntries(filesIn('tiny').map((file) => [file.name, file]));
  const ways = [folder('tiny'), new URL(`file://${folder('tiny')}/`), filesIn('tiny'), byName, `${address}/tiny`, `${only}/tiny/`, folder('tiny-legacy')];
  const models = await Promise.all(ways.map(async (way) => content(await importMarian(way))));
  for (const model of models) assert.ok(model.equals(models[0]));
});

test('MarianMT and Marian: pieces and translations match the reference', async () => {
  for (const [name, numbers] of [['tiny', expected.hugging_face], ['tiny-npz', expected.marian]]) {
    await opened(await importMarian(folder(name)), async (translator) => {
      for (const [i, text] of expected.texts.entries()) {
        const options = { beamSize: 1, maxLength: numbers.greedy[i].length };
        const { sourceTokens, targetTokens } = await translator.translate(text, options);
        assert.deepEqual(sourceTokens.map(({ id }) => id), expected.source[i]);
        assert.deepEqual(targetTokens.map(({ id }) => id), numbers.greedy[i]);
      }
    });
  }
});

test('precision and languages are as requested; progress counts all files', async (t) => {
  const told = [];
  const address = await serveFolder(t);
  const model = await importMarian(address, { precision: 'int8', languages: 'de-en', onProgress: (...numbers) => told.push(numbers) });
  await opened(model, ({ info }) => {
    assert.equal(info.precision, 'int8');
    assert.equal(info.languages, 'de-en');
  });
  const total = filesIn('tiny').filter(({ name }) => name !== 'pytorch_model.bin').reduce((sum, { size }) => sum + size, 0);
  assert.deepEqual(told.at(-1), [total, total]);
  await opened(await importMarian(folder('tiny'), { precision: 'f16' }), ({ info }) => assert.equal(info.precision, 'f16'));
});

test('a model written for MarianMT and read again has the same bytes', async () => {
  const first = await importMarian(folder('tiny'));
  const files = await exportMarian(first);
  assert.deepEqual(Object.keys(files).sort(), filesIn('tiny').map(({ name }) => name).filter((name) => name !== 'pytorch_model.bin').sort());
  assert.ok((await content(await importMarian(files))).equals(await content(first)));
  const half = await exportMarian(first, { precision: 'f16' });
  assert.ok(half['model.safetensors'].size < 0.6 * files['model.safetensors'].size);
});

test('a model of our own translates the same after it is written and read', async () => {
  const again = await importMarian(await exportMarian(fixtureBytes()));
  const say = (model) =>
    opened(model, async (translator) => (await translator.translate(sentences)).map(({ text }) => text));
  assert.deepEqual(await say(again), await say(fixturePath));
});

test('a BERT or DistilBERT folder classifies and tags, from files, a path or its name on a host', async (t) => {
  const place = (name) => fileURLToPath(new URL(`../fixtures/bert/${name}`, import.meta.url));
  const { texts, ...kinds } = JSON.parse(readFileSync(place('expected.json')));
  const hub = await serve(t, ({ url, method }, response) => {
    const [, name, file] = /^\/google\/([^/]+)\/resolve\/main\/([^/]+)$/.exec(url) ?? [];
    if (!name || !readdirSync(place(name)).includes(file)) return response.writeHead(404).end();
    response.end(method === 'GET' ? readFileSync(join(place(name), file)) : undefined);
  });
  const using = async (load, use) => {
    const model = await load;
    await use(model);
    model.dispose();
  };
  const { labels, logits } = kinds['bert-classify'];
  const sum = logits[0].reduce((sum, score) => sum + Math.exp(score), 0);
  const files = readdirSync(place('bert-classify')).map((file) => new File([readFileSync(join(place('bert-classify'), file))], file));
  for (const [source, limit] of [[await importBert(files), 1e-4], [await importBert(place('bert-classify')), 1e-4], ['google/bert-classify', 0.1]]) {
    await using(Classifier.load(source, { hub, cache: false }), async (model) => {
      const found = await model.classify(texts[0]);
      for (const [i, label] of labels.entries()) {
        const { probability } = found.labels.find((one) => one.label === label);
        assert.ok(Math.abs(probability - Math.exp(logits[0][i]) / sum) < limit, `${source}: ${label} ${probability}`);
      }
    });
  }
  await using(Tagger.load('google/distilbert-tag', { hub, cache: false, precision: 'f32' }), async (model) => {
    const { spans, tokens, sourceTokens } = await model.tag('Unaffable  combining');
    assert.deepEqual(tokens.map(({ start, end }) => [start, end]), [[0, 9], [11, 20]]);
    assert.deepEqual(sourceTokens.map(({ piece }) => piece), ['[CLS]', '▁un', 'aff', 'able', '▁combin', 'ing', '[SEP]']);
    assert.ok(spans.every(({ type }) => ['PER', 'LOC'].includes(type)));
  });
  await assert.rejects(Translator.load(await importBert(place('bert-tag'), { precision: 'int8' })), /this model does not translate; it tags/);
  assert.deepEqual(Object.keys(await exportOnnx(await importBert(files))).sort(), ['config.json', 'model.onnx', 'tokenizer_config.json', 'vocab.txt']);
});

test("ONNX: two graphs, and the tokenizer's files", async () => {
  const names = Object.keys(await exportOnnx(fixturePath));
  for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx', 'config.json', 'source.spm', 'vocab.json']) assert.ok(names.includes(name), name);
});

test('invalid input is refused in one sentence', async (t) => {
  const without = (name) => filesIn('tiny').filter((file) => file.name !== name);
  const other = (config) => [...without('config.json'), new File([JSON.stringify(config)], 'config.json')];
  const settings = JSON.parse(readFileSync(join(folder('tiny'), 'config.json')));
  const cases = [
    [() => importMarian(without('config.json')), /config\.json/],
    [() => importMarian(without('source.spm')), /source\.spm/],
    [() => importMarian(other({ ...settings, model_type: 'bart' })), /bart/],
    [() => importMarian(other({ ...settings, vocab_size: 99 })), /99/],
    [() => importMarian(join(folder('tiny'), 'absent')), /^\[import\] the folder .*absent could not be read/],
    [() => importMarian(fixtureBytes()), /a folder is wanted|must be/],
    [() => importMarian(42), /the folder must be a URL, a path, files, or sources by their names, not 42/],
    [() => importMarian(folder('tiny'), { precission: 'int8' }), /unknown option 'precission'; did you mean 'precision'/],
    [() => importMarian(folder('tiny'), { precision: 'int4' }), /precision must be 'f32', 'f16' or 'int8', not 'int4'/],
    [() => exportMarian(new Uint8Array(20)), /./],
  ];
  for (const [attempt, says] of cases) {
    await assert.rejects(async () => attempt(), (error) => {
      assert.ok(error instanceof Error && says.test(error.message), error.message);
      assert.ok(!/\n/.test(error.message));
      return true;
    });
  }
  const address = await serveFolder(t, ['vocab.json']);
  await assert.rejects(importMarian(address), { message: '[import] the folder has no vocab.json' });
});

test('an abort ends a conversion with its reason', async () => {
  const controller = new AbortController();
  const import_ = importMarian(folder('tiny'), { signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(import_, { message: 'enough' });
  await assert.rejects(importMarian(folder('tiny'), { signal: controller.signal }), { message: 'enough' });
});
