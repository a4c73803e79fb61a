// Texts of many sentences, translated sentence by sentence.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { fixturePath, sentences } from './support.mjs';

let translator;
before(async () => (translator = await Translator.load(fixturePath)));
after(() => translator.dispose());

const text = `  ${sentences.join(' ')}\n\n${sentences.join('  ')}\n`;

async function collect(iterable) {
  const all = [];
  for await (const item of iterable) all.push(item);
  return all;
}
const joined = (parts) => parts.map((part) => part.text).join('');

test('streamText: the parts, joined, are what translateText gives, with the same sentences', async () => {
  const whole = await translator.translateText(text);
  for (const options of [{}, { batchSize: 1 }, { batchSize: 3 }]) {
    const parts = await collect(translator.streamText(text, options));
    assert.equal(joined(parts), whole.text);
    assert.deepEqual(parts.map(({ index, of }) => [index, of]), whole.sentences.map((_, i) => [i, whole.sentences.length]));
    assert.deepEqual(
      parts.map(({ sentence }) => [sentence.begin, sentence.source, sentence.translation.text]),
      whole.sentences.map(({ begin, source, translation }) => [begin, source, translation.text]),
    );
    assert.ok(parts.every(({ sentence }) => !('index' in sentence.translation)));
  }
  assert.ok(whole.sentences.length >= 10);
});

test('streamText: an empty text has no parts, and white space alone is one', async () => {
  assert.deepEqual(await collect(translator.streamText('')), []);
  const parts = await collect(translator.streamText(' \n '));
  assert.deepEqual(parts, [{ text: ' \n ', index: 0, of: 0 }]);
  assert.equal(joined(parts), (await translator.translateText(' \n ')).text);
});

test('streamText: options apply to every sentence, and other workers share the work', async () => {
  const options = { beamSize: 1, glossary: [{ source: 'Hund', target: 'canine' }], quality: true };
  const whole = await translator.translateText(text, options);
  const other = await Translator.load(fixturePath);
  const parts = await collect(translator.streamText(text, { ...options, batchSize: 2, workers: [other] }));
  other.dispose();
  assert.equal(joined(parts), whole.text);
  assert.match(whole.text, /canine/);
  assert.ok(parts.every(({ sentence }) => sentence.translation.quality.logProbability < 0));
});

test('streamText: wrong options and texts are refused by name', async () => {
  assert.throws(() => translator.streamText(5), { message: '[translate] the text must be a string, not 5' });
  assert.throws(() => translator.streamText(text, { onToken() {} }), { code: 'unknown-option' });
  assert.throws(() => translator.streamText(text, { batchSize: 0 }), { code: 'option-value' });
  assert.throws(() => translator.streamText(text, { workers: [{}] }), /workers must be an array/);
  for (const [name, value] of Object.entries({ onError() {}, startIndex: 2, nonsense: 1 })) {
    await assert.rejects(collect(translator.streamText(text, { [name]: value })), { code: 'unknown-option' }, name);
  }
  const error = await collect(translator.streamText(text, { maskedSource: [400] })).catch((error) => error);
  assert.deepEqual([error.code, error.details.number], ['mask', 1]);
});

test('streamText: an abort ends it with its reason, and leaving the loop stops the work', async () => {
  const long = `${text} `.repeat(30);
  const stop = new AbortController();
  const reason = new Error('enough');
  const stream = translator.streamText(long, { signal: stop.signal });
  await stream.next();
  stop.abort(reason);
  await assert.rejects(stream.next(), reason);
  await assert.rejects(collect(translator.streamText(text, { signal: stop.signal })), reason);
  let count = 0;
  for await (const part of translator.streamText(long)) if (part.text && ++count === 3) break;
  const begin = performance.now();
  await translator.translate(sentences[0]);
  const alone = performance.now() - begin;
  const whole = performance.now();
  await translator.translateText(long);
  assert.ok(alone < (performance.now() - whole) / 3, `${alone} ms after leaving the loop`);
});

test('streamText: the first sentence comes long before the last', async () => {
  const long = `${text} `.repeat(30);
  const begin = performance.now();
  let first;
  for await (const { index } of translator.streamText(long)) if (index === 0) first = performance.now() - begin;
  const all = performance.now() - begin;
  assert.ok(first < all / 5, `${first} of ${all} ms`);
});

test('streamText: translations are not kept', () => {
  const script = `
    import { Translator } from '${new URL('../../dist/index.js', import.meta.url)}';
    const translator = await Translator.load(${JSON.stringify(fixturePath)});
    const used = () => (gc(), process.memoryUsage().arrayBuffers);
    const text = ${JSON.stringify(`${sentences[2]} `)}.repeat(300);
    let [begin, most] = [used(), 0];
    // The maps of all sentences together are some 30 MB.
    for await (const { index } of translator.streamText(text, { attention: true, beamSize: 1 })) {
      if (index % 50 === 49) most = Math.max(most, used() - begin);
    }
    console.log(most);
    translator.dispose();`;
  const most = Number(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], { encoding: 'utf8' }));
  assert.ok(most < 8e6, `${most} bytes`);
});
