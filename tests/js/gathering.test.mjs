// Calls that wait at the same time are computed as one batch, and each gets what it would get alone.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { importMarian } from '../../dist/convert/index.js';
import { Requests } from '../../dist/worker/dispatcher.js';
import { WorkerTranslator } from '../../dist/worker/worker-translator.js';
import { scalesWholeBatches } from '../../dist/worker/model-header.js';
import { fixtureBytes, sentences, withTranslator } from './support.mjs';

const tatoeba = readFileSync(new URL('../fixtures/tatoeba-en-de-test-200.tsv', import.meta.url), 'utf8');
const many = tatoeba.split('\n').slice(0, 20).map((line) => line.split('\t')[1]);
const tooLong = 'Haus '.repeat(5000);

/** The worker's side in this thread: posts requests to it, and counts the texts of each of its batches. */
async function openRequests(t, file = fixtureBytes()) {
  const batches = [];
  const { steps } = WorkerTranslator.prototype;
  t.mock.method(WorkerTranslator.prototype, 'steps', function (texts, ...others) {
    batches.push(texts.length);
    return steps.call(this, texts, ...others);
  });
  const answers = new Map();
  const updates = [];
  const requests = new Requests((reply) => {
    if (reply.type === 'update') updates.push(reply);
    else answers.get(reply.id)?.(reply);
  });
  let last = 0;
  /** Posts a call; its promise has the number of the call. */
  const call = (method, wanted) => {
    const id = ++last;
    const answer = new Promise((resolve) => answers.set(id, resolve));
    requests.receive({ type: 'call', id, key: 1, method, wanted });
    return Object.assign(answer, { id });
  };
  const translate = (texts, options = {}, partials = false) =>
    call('translate', { texts: [texts].flat(), options: JSON.stringify(options), partials, first: 0 });
  const model = { kind: 'bytes', bytes: file };
  await call('load', { model, cache: false, threads: 1, isThreadsLimit: false, use: 'translate' });
  t.after(() => requests.receive({ type: 'dispose', key: 1 }));
  const abort = ({ id }) => requests.receive({ type: 'abort', id });
  return { translate, abort, batches, updates };
}

const inTurn = async (texts, translate) => {
  const results = [];
  for (const text of texts) results.push(await translate(text));
  return results;
};

test('the first call begins at once, and those that wait meanwhile become one batch', async (t) => {
  const { translate, batches } = await openRequests(t);
  const replies = await Promise.all(many.map((text) => translate(text, { beamSize: 1 })));
  assert.deepEqual(batches, [1, 19]);
  for (const { type, result } of replies) assert.deepEqual([type, result.length], ['done', 1]);
});

for (const [name, options] of Object.entries({
  'the default search': {},
  'greedy search': { beamSize: 1 },
  'several hypotheses, candidates and the tree of the search': { beamSize: 4, nBest: 3, topTokens: 3, beamTrace: true },
  'attention, alignment and quality': { beamSize: 2, attention: true, alignment: true, quality: true },
  'a glossary and parts that are kept': { glossary: [{ source: 'Tom', target: 'Thomas' }], keep: ['number', /Mary/] },
  'a forced start': { prefix: 'I' },
  sampling: { sampling: { temperature: 0.8, seed: 7 } },
  'a look inside': { internals: true },
})) {
  test(`calls at once get the same as one after another, to the bit: ${name}`, () =>
    withTranslator(async (translator) => {
      const texts = name === 'a look inside' ? many.slice(0, 4) : many;
      const translate = (text) => translator.translate(text, options);
      const alone = await inTurn(texts, translate);
      assert.deepEqual(await Promise.all(texts.map(translate)), alone);
    }));
}

test('calls with arrays share a batch too, and are answered in the order of the calls', async (t) => {
  const { translate, batches } = await openRequests(t);
  const ended = [];
  const groups = [[many[0]], many.slice(1, 4), [], many.slice(4, 6), many.slice(6, 20), Array(17).fill('Danke!')];
  const replies = await Promise.all(groups.map(async (texts, i) => {
    const { result } = await translate(texts);
    ended.push(i);
    return result.map(({ text }) => text);
  }));
  assert.deepEqual(batches, [1, 19, 17], 'at most 32 texts');
  const alone = await inTurn(groups, async (texts) => (await translate(texts)).result.map(({ text }) => text));
  assert.deepEqual(replies, alone);
  assert.deepEqual(ended.filter((i) => i > 0 && i < 5), [1, 2, 3, 4]);
});

test('only calls with equal options share a batch', async (t) => {
  const { translate, batches } = await openRequests(t);
  const drawn = { sampling: { seed: 1 } };
  const options = [{}, { beamSize: 1 }, { beamSize: 2 }, { beamSize: 1 }, { beamSize: 2 }, drawn, drawn];
  await Promise.all(options.map((each) => translate(sentences[0], each)));
  assert.deepEqual(batches, [1, 2, 2, 1, 1]);
});

test('a text that cannot be translated fails alone, with its own error', () =>
  withTranslator(async (translator) => {
    const texts = [...sentences, tooLong, ...sentences];
    const results = await Promise.allSettled(texts.map((text) => translator.translate(text)));
    const alone = await inTurn(sentences, (text) => translator.translate(text));
    const [failure] = results.splice(sentences.length, 1);
    assert.equal(failure.reason.code, 'too-long');
    assert.equal(failure.reason.details.number, 1);
    assert.deepEqual(results.map(({ value }) => value), [...alone, ...alone]);
  }));

test('an aborted call leaves its batch, and the others get their answers', async (t) => {
  const { translate, abort, batches } = await openRequests(t);
  const [first, ...others] = sentences.map((text) => translate(text, {}, true));
  await first;
  abort(others[1]);
  const ended = await Promise.race([others[1].then(() => 'answered'), Promise.all([others[0], others[2], others[3]])]);
  assert.deepEqual(ended.map(({ type }) => type), ['done', 'done', 'done']);
  assert.deepEqual(batches, [1, 4]);
});

test('when all calls of a batch are aborted, it ends', async (t) => {
  const { translate, abort, updates } = await openRequests(t);
  const first = translate(sentences[0], {}, true);
  const others = many.map((text) => translate(text, {}, true));
  await first;
  others.forEach(abort);
  const { length } = updates;
  await translate(sentences[0]);
  assert.equal(updates.length, length);
});

test('each call of a batch tells its own text as it grows, as it does alone', () =>
  withTranslator(async (translator) => {
    const partialsOf = async (text) => {
      const partials = [];
      const { text: end } = await translator.translate(text, { onPartial: (partial) => partials.push(partial) });
      assert.equal(partials.at(-1), end);
      return partials;
    };
    assert.deepEqual(await Promise.all(many.map(partialsOf)), await inTurn(many, partialsOf));
  }));

/** The bytes of a student of Firefox's kind; without multipliers, each product scales its inputs by the largest of the batch. */
async function importStudent(hasMultipliers) {
  const bytesOf = (name) => readFileSync(new URL(`../fixtures/marian/student/${name}`, import.meta.url));
  const weights = bytesOf('model.int8.bin');
  const suffix = '_QuantMultA';
  // Renamed, a multiplier is of no weight.
  for (let at = weights.indexOf(suffix); !hasMultipliers && at >= 0; at = weights.indexOf(suffix, at + 1)) {
    weights[weights.lastIndexOf(0, at) + 1] = 'x'.charCodeAt(0);
  }
  const files = [new File([weights], 'model.int8.bin'), new File([bytesOf('vocab.spm')], 'vocab.spm')];
  return new Uint8Array(await (await importMarian(files, { precision: 'int8' })).arrayBuffer());
}

for (const [name, hasMultipliers, expected] of [
  ['students with multipliers share batches', true, [1, 4]],
  ['students that scale their inputs by the largest of a batch do not, as their translations depend on it', false, Array(5).fill(1)],
]) {
  test(name, async (t) => {
    const file = await importStudent(hasMultipliers);
    assert.equal(scalesWholeBatches(file), !hasMultipliers);
    const { translate, batches } = await openRequests(t, file);
    const texts = ['She reads an old book.', 'Hello!', 'Where is the station?', 'It rains.', 'Every evening'];
    const results = async (replies) => (await replies).map(({ result }) => result);
    const options = { beamSize: 1, maxLength: 20 };
    const together = await results(Promise.all(texts.map((text) => translate(text, options))));
    assert.deepEqual(batches, expected);
    assert.deepEqual(together, await results(inTurn(texts, (text) => translate(text, options))));
  });
}

/** A file with one tensor, of one number. */
function fileWith(name, value) {
  const header = new TextEncoder().encode(JSON.stringify({ __metadata__: { format: 'wasmformer' }, [name]: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } }));
  const file = new Uint8Array(8 + header.length + 4);
  const view = new DataView(file.buffer);
  view.setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  view.setFloat32(8 + header.length, value, true);
  return file;
}

test('the header tells which models scale their inputs by the largest of a batch', () => {
  assert.equal(scalesWholeBatches(fileWith('fc1.input_multiplier', 0)), true);
  assert.equal(scalesWholeBatches(fileWith('fc1.input_multiplier', 12.5)), false);
  assert.equal(scalesWholeBatches(fileWith('fc1.weight', 0)), false);
  assert.equal(scalesWholeBatches(fixtureBytes()), false);
});
