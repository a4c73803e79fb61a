// What a translation holds, under each option.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { close, fixturePath, sentences } from './support.mjs';

let translator;
before(async () => {
  translator = await Translator.load(fixturePath);
});
after(() => translator.dispose());

const sum = (values) => values.reduce((total, value) => total + value, 0);

test('a translation has its text, score and tokens', async () => {
  const { text, score, sourceTokens, targetTokens, alternatives, attention } = await translator.translate(sentences[1]);
  const spoken = (tokens) => tokens.slice(0, -1).map(({ piece }) => piece).join('').replaceAll('▁', ' ').trim();
  assert.equal(spoken(sourceTokens), sentences[1]);
  assert.equal(spoken(targetTokens), text);
  assert.equal(sourceTokens.at(-1).id, translator.info.config.eos_id);
  const total = sum(targetTokens.map(({ logProbability }) => logProbability));
  close(score, total / ((5 + targetTokens.length) / 6) ** 0.6, 1e-4);
  assert.ok(targetTokens.every((token) => token.logProbability <= 0 && !('top' in token)));
  assert.deepEqual(alternatives, []);
  assert.equal(attention, undefined);
});

test('a batch of any size gives the same results as each sentence alone', async () => {
  const many = Array.from({ length: 70 }, (_, i) => sentences[i % sentences.length]);
  const batch = await translator.translate(many, { beamSize: 2, attention: true });
  assert.equal(batch.length, many.length);
  for (const [i, sentence] of sentences.entries()) {
    const single = await translator.translate(sentence, { beamSize: 2, attention: true });
    for (const item of batch.filter((_, j) => j % sentences.length === i)) {
      assert.equal(item.text, single.text);
      close(item.score, single.score, 1e-3);
      assert.deepEqual(item.targetTokens.map(({ id }) => id), single.targetTokens.map(({ id }) => id));
      item.attention.cross.data.forEach((value, at) => close(value, single.attention.cross.data[at], 1e-3));
    }
  }
});

test('no texts, an empty one, spaces, emoji and half a surrogate pair', async () => {
  assert.deepEqual(await translator.translate([]), []);
  const results = await translator.translate(['', '   ', '😀😀😀', 'Gut\uD83D!', sentences[0]]);
  assert.equal(results[0].text, '');
  assert.equal(results[4].text, (await translator.translate(sentences[0])).text);
  assert.ok(results.every(({ text }) => text.isWellFormed?.() ?? true));
});

test('a text that is too long is refused, and the next one is translated', async () => {
  const long = 'Haus '.repeat(5000);
  await assert.rejects(translator.translate(long), /tokens.*the model takes/);
  await assert.rejects(translator.translate([sentences[0], long]), /tokens.*the model takes/);
  assert.notEqual((await translator.translate(sentences[0])).text, '');
});

test('attention has a map for each layer and head whose rows sum to 1', async () => {
  const { attention, sourceTokens, targetTokens } = await translator.translate(sentences[2], { attention: true });
  const { encoder_layers, decoder_layers, num_heads } = translator.info.config;
  const shapes = {
    encoder: [encoder_layers, sourceTokens.length, sourceTokens.length],
    decoder: [decoder_layers, targetTokens.length, targetTokens.length],
    cross: [decoder_layers, targetTokens.length, sourceTokens.length],
  };
  for (const [kind, [layers, rows, columns]] of Object.entries(shapes)) {
    const maps = attention[kind];
    assert.deepEqual([maps.layers, maps.heads, maps.rows, maps.columns], [layers, num_heads, rows, columns]);
    assert.equal(maps.data.length, layers * num_heads * rows * columns);
    assert.equal(maps.data.byteLength, maps.data.buffer.byteLength, 'a copy of its own, not a view into the module');
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < num_heads; head++) {
        const map = maps.map(layer, head);
        assert.equal(map.length, rows * columns);
        assert.equal(map[1], maps.data[(layer * num_heads + head) * rows * columns + 1]);
        for (let row = 0; row < rows; row++) {
          close(sum(map.subarray(row * columns, (row + 1) * columns)), 1, 1e-5);
          if (kind === 'decoder') assert.ok(map.subarray(row * columns + row + 1, (row + 1) * columns).every((p) => p === 0));
        }
      }
    }
    assert.throws(() => maps.map(layers, 0), RangeError);
    assert.throws(() => maps.map(0, -1), RangeError);
  }
});

test('n-best hypotheses are ordered and differ', async () => {
  const options = { beamSize: 4, nBest: 4, topTokens: 1 };
  const { text, score, alternatives } = await translator.translate(sentences[2], options);
  assert.equal(alternatives.length, 3);
  const all = [{ text, score }, ...alternatives];
  assert.deepEqual(all, all.toSorted?.((a, b) => b.score - a.score) ?? all);
  assert.equal(new Set(alternatives.map(({ targetTokens }) => targetTokens.map(({ id }) => id).join())).size, 3);
  assert.ok(alternatives.every(({ targetTokens }) => targetTokens.every(({ top }) => top.length === 1)));
});

test('a prefix starts the target', async () => {
  const free = await translator.translate(sentences[0]);
  const { text, targetTokens } = await translator.translate(sentences[0], { prefix: 'Perhaps' });
  assert.ok(!free.text.startsWith('Perhaps') && text.startsWith('Perhaps'), text);
  assert.equal(targetTokens.map(({ piece }) => piece).join('').startsWith('▁Perhaps'), true);
});

test('sampling draws the same text from the same seed, and other texts from other seeds', async () => {
  const draw = async (seed) => (await translator.translate(sentences[4], { sampling: { temperature: 2, seed } })).text;
  const texts = [await draw(1), await draw(2), await draw(3), await draw(2 ** 53 - 1)];
  assert.equal(await draw(1), texts[0]);
  assert.equal(await draw(2 ** 53 - 1), texts[3]);
  assert.ok(new Set(texts).size > 1);
  // A hundred draws are more than one part of a batch, and no part repeats another.
  const batch = await translator.translate(Array(128).fill(sentences[4]), { sampling: { temperature: 2 } });
  assert.notDeepEqual(batch.slice(0, 64).map(({ text }) => text), batch.slice(64).map(({ text }) => text));
});

test('sampling from one token only is greedy', async () => {
  const greedy = await translator.translate(sentences[2], { beamSize: 1 });
  assert.equal((await translator.translate(sentences[2], { sampling: { topK: 1, seed: 7 } })).text, greedy.text);
});

test('topTokens gives the candidates of each step, best first', async () => {
  const { targetTokens } = await translator.translate(sentences[0], { beamSize: 1, topTokens: 3 });
  for (const { id, logProbability, top } of targetTokens) {
    assert.equal(top.length, 3);
    assert.equal(top[0].id, id);
    close(top[0].logProbability, logProbability, 1e-3);
    assert.ok(top[0].logProbability >= top[1].logProbability && top[1].logProbability >= top[2].logProbability);
    assert.ok(sum(top.map((candidate) => Math.exp(candidate.logProbability))) <= 1 + 1e-5);
  }
});

test('maxLength limits the target', async () => {
  const { targetTokens } = await translator.translate(sentences[2], { maxLength: 3 });
  assert.equal(targetTokens.length, 3);
  assert.notEqual(targetTokens.at(-1).id, translator.info.config.eos_id);
});

test('onPartial reports the text as it grows', async () => {
  const partials = [];
  const onPartial = (partial) => partials.push(partial);
  const { text } = await translator.translate(sentences[2], { beamSize: 1, onPartial });
  assert.ok(partials.length > 2);
  assert.equal(partials.at(-1), text);
  assert.ok(partials.every((partial, i) => partial.length >= (partials[i - 1]?.length ?? 1)));

  const rows = [];
  const results = await translator.translate(sentences, { onToken: (partial) => rows.push(partial) });
  assert.ok(rows.every((row) => row.length === sentences.length));
  assert.deepEqual(rows.at(-1), results.map((result) => result.text));
});

test('a translation with all its parts can be cloned, as for posting and storing', async () => {
  const translation = await translator.translate(sentences[0], { attention: true, internals: true, beamTrace: true });
  assert.equal(translation.attention.cross.map(0, 0).length, translation.attention.cross.rows * translation.attention.cross.columns);
  assert.deepEqual(structuredClone(translation), translation);
});
