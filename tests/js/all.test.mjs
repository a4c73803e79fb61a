// Many texts one after the other, and texts of many sentences.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { fixturePath, sentences } from './support.mjs';

let translator;
before(async () => (translator = await Translator.load(fixturePath)));
after(() => translator.dispose());

const texts = Array.from({ length: 40 }, (_, i) => `${sentences[i % sentences.length]} ${i}`);

/** Yields the texts, and counts how many were read. */
function source(all = texts) {
  const state = { read: 0, isClosed: false };
  state.texts = (async function *() {
    try {
      for (const text of all) {
        state.read++;
        yield text;
      }
    } finally {
      state.isClosed = true;
    }
  })();
  return state;
}

async function collect(iterable) {
  const all = [];
  for await (const item of iterable) all.push(item);
  return all;
}

test('translateAll: gives all texts in order, the same as alone, from sync and async iterables', async () => {
  const expected = (await translator.translate(texts)).map(({ text }) => text);
  for (const from of [texts, source().texts, new Set(texts)]) {
    const all = await collect(translator.translateAll(from, { batchSize: 7 }));
    assert.deepEqual(all.map(({ text }) => text), expected);
    assert.deepEqual(all.map(({ index }) => index), texts.map((_, i) => i));
  }
  assert.deepEqual(await collect(translator.translateAll([])), []);
});

test('translateAll: other translators take turns, and the order is kept', async () => {
  const expected = (await translator.translate(texts)).map(({ text }) => text);
  const other = await Translator.load(fixturePath);
  const calls = [0, 0];
  for (const [i, one] of [translator, other].entries()) {
    const { translateFrom } = Object.getPrototypeOf(one);
    one.translateFrom = function (...call) {
      calls[i]++;
      return translateFrom.apply(this, call);
    };
  }
  const all = await collect(translator.translateAll(source().texts, { batchSize: 4, workers: [other] }));
  assert.deepEqual(all.map(({ text, index }) => [text, index]), expected.map((text, i) => [text, i]));
  assert.deepEqual(calls, [5, 5]);
  delete translator.translateFrom;
  other.dispose();
  await assert.rejects(collect(translator.translateAll(texts, { batchSize: 4, others: [other] })), /disposed/);
  assert.throws(() => translator.translateAll(texts, { workers: [{}] }), { message: '[translate] workers must be an array of Translators' });
});

test('translateAll: skipped texts take no memory', () => {
  const script = `
    import { translateAll } from '${new URL('../../dist/api/stream-texts.js', import.meta.url)}';
    const used = () => (gc(), process.memoryUsage().heapUsed);
    const begin = used();
    let grown;
    const texts = (async function *() {
      for (let i = 0; i < 1e5; i++) yield 'text';
      grown = used() - begin;
    })();
    for await (const _ of translateAll(texts, [async () => []], { startIndex: 1e5 }));
    console.log(grown);`;
  const grown = Number(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], { encoding: 'utf8' }));
  assert.ok(grown < 5e6, `${grown} bytes`);
});

for (const count of [1, 3]) {
  test(`translateAll: a slow loop makes the source wait, with workers: ${count}`, async () => {
    const others = await Promise.all(Array.from({ length: count - 1 }, () => Translator.load(fixturePath)));
    const state = source(Array.from({ length: 120 }, (_, i) => texts[i % texts.length]));
    let seen = 0;
    let most = 0;
    for await (const _ of translator.translateAll(state.texts, { batchSize: 4, others })) {
      await setTimeout(seen < 40 ? 10 : 0);
      most = Math.max(most, state.read - seen);
      seen++;
    }
    assert.equal(seen, 120);
    // One batch for each worker, and one more; no fewer, or workers would wait.
    assert.equal(most, 4 * (count + 1));
    for (const other of others) other.dispose();
  });
}

test('translateAll: leaving the loop closes the source, and a later call can continue there', async () => {
  const state = source();
  const first = [];
  for await (const { index, text } of translator.translateAll(state.texts, { batchSize: 5 })) {
    first.push(text);
    if (index === 16) break;
  }
  await setTimeout(0);
  assert.equal(state.isClosed, true);
  const rest = await collect(translator.translateAll(texts, { start: 17, batchSize: 5 }));
  assert.equal(rest[0].index, 17);
  assert.deepEqual([...first, ...rest.map(({ text }) => text)], (await translator.translate(texts)).map(({ text }) => text));
});

test('translateAll: an abort ends it, even while the source is silent', async () => {
  const reason = new Error('enough');
  for (const silent of [false, true]) {
    const controller = new AbortController();
    const endless = (async function *() {
      for (;;) yield sentences[0];
    })();
    const waiting = (async function *() {
      yield* sentences;
      await new Promise(() => {});
    })();
    const all = translator.translateAll(silent ? waiting : endless, { signal: controller.signal, batchSize: 5 });
    await assert.rejects(async () => {
      for await (const { index } of all) if (index === 4) controller.abort(reason);
    }, reason);
  }
  const before = translator.translateAll(texts, { signal: AbortSignal.abort(reason) });
  await assert.rejects(before.next(), reason);
});

test('translateAll: a text that cannot be translated is named, and does not affect the others', async () => {
  const some = [...sentences];
  some[3] = 'Haus '.repeat(3000);
  const tooLong = /^Error: \[translate\] sentence 4 has \d+ tokens; the model takes at most \d+$/;
  const seen = [];
  await assert.rejects(async () => {
    for await (const { index } of translator.translateAll(some)) seen.push(index);
  }, tooLong);
  assert.deepEqual(seen, [0, 1, 2]);
  const errors = [];
  const rest = await collect(translator.translateAll(some, { onError: (error, index) => errors.push([index, error.message]) }));
  assert.deepEqual(rest.map(({ index }) => index), [0, 1, 2, 4]);
  assert.equal(errors.length, 1);
  assert.equal(errors[0][0], 3);
  await assert.rejects(translator.translate(some), tooLong);
  for (const [i, given] of [[0, 5], [1, null]]) {
    const wrong = sentences.with(i, given);
    const message = `[translate] text ${i + 1} must be a string, not ${given}`;
    await assert.rejects(translator.translate(wrong), { message });
    await assert.rejects(collect(translator.translateAll(wrong)), { message });
  }
  const masked = translator.translateAll(sentences, { maskedSource: [9], startIndex: 3 });
  await assert.rejects(collect(masked), { message: /^text 4: \[mask\] source position 9 / });
});

test('translateAll: an error of the source is thrown after the results for earlier texts', async () => {
  const failing = (async function *() {
    yield* sentences;
    throw new Error('the file is gone');
  })();
  const seen = [];
  await assert.rejects(async () => {
    for await (const { index } of translator.translateAll(failing, { batchSize: 5 })) seen.push(index);
  }, { message: 'the file is gone' });
  assert.deepEqual(seen, [0, 1, 2, 3, 4]);
});

test('translateAll: invalid arguments are refused by name', async () => {
  for (const [from, options, message] of [
    ['Danke!', {}, /takes an iterable of texts, not 'Danke!'/],
    [texts, { batchSize: 0 }, /batchSize must be a whole number from 1/],
    [texts, { startIndex: -1 }, /startIndex must be a whole number from 0/],
    [texts, { start: 1, startIndex: 1 }, /start is the old name of startIndex; give only startIndex/],
    [texts, { onPartial() {} }, /translateAll\(\) has no option 'onPartial'/],
    [texts, { onToken() {} }, /translateAll\(\) has no option 'onToken'/],
  ]) assert.throws(() => translator.translateAll(from, options), { message });
  await assert.rejects(translator.translateAll(texts, { beamsize: 2 }).next(), /unknown option 'beamsize'/);
});

test('translateText: sentences are translated one by one, and the text between them is kept', async () => {
  const [first, second, third] = await translator.translate(sentences.slice(0, 3));
  const { text, sentences: found } = await translator.translateText(`${sentences[0]} ${sentences[1]}\n\n  ${sentences[2]}\n`);
  assert.equal(text, `${first.text} ${second.text}\n\n  ${third.text}\n`);
  assert.deepEqual(found.map(({ source }) => source), sentences.slice(0, 3));
  assert.deepEqual(found.map(({ begin }) => begin), [0, 21, 21 + sentences[1].length + 4]);
  assert.deepEqual(found[1].translation, second);
  assert.deepEqual(await translator.translateText(' \n'), { text: ' \n', sentences: [] });
  // Neither an abbreviation nor an ordinal ends a sentence; one that never ends is cut instead of refused.
  assert.equal((await translator.translateText('Wir kommen am 3. Mai mit Dr. Schmidt. Danke.')).sentences.length, 2);
  assert.ok((await translator.translateText('Wort '.repeat(3000))).sentences.length > 20);
  await assert.rejects(translator.translateText(5), /the text must be a string, not 5/);
});
