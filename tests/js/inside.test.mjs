// What shows the inside of a translation, and what changes it there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { close, fixturePath, sentences } from './support.mjs';

let translator;
before(async () => {
  translator = await Translator.load(fixturePath);
});
after(() => translator.dispose());

const ids = ({ targetTokens }) => targetTokens.map(({ id }) => id);

test('a prefix of token ids is forced: a candidate of a step, and the whole target', async () => {
  const free = await translator.translate(sentences[2], { topTokens: 2 });
  const other = [...ids(free).slice(0, 2), free.targetTokens[2].top[1].id];
  const forced = await translator.translate(sentences[2], { prefix: other });
  assert.deepEqual(ids(forced).slice(0, 3), other);
  assert.notEqual(forced.text, free.text);
  // The end token, last, ends it.
  const whole = [...other, translator.info.config.eos_id];
  assert.deepEqual(ids(await translator.translate(sentences[2], { prefix: whole })), whole);
  assert.equal((await translator.translate(sentences[2], { prefix: [] })).text, free.text);
});

test('nothing attends to a masked token', async () => {
  const plain = await translator.translate(sentences[0], { attention: true });
  const masked = await translator.translate(sentences[0], { maskedSource: [3, 2, 3], attention: true });
  assert.deepEqual(masked.sourceTokens, plain.sourceTokens);
  assert.notEqual(masked.score, plain.score);
  for (const { data, columns } of [masked.attention.encoder, masked.attention.cross]) {
    data.forEach((p, i) => assert.equal(p === 0, [2, 3].includes(i % columns), `column ${i % columns}: ${p}`));
  }
  // What the token is makes no difference.
  const [a, b] = await translator.translate(['Ich einen Hund.', 'Ich habe Hund.'], { maskedSource: [1] });
  assert.deepEqual([a.text, a.score], [b.text, b.score]);
});

test('a masked head changes the translation, and keeps its map over the source', async () => {
  const head = { attention: 'encoder', layer: 0, head: 2 };
  const plain = await translator.translate(sentences[2], { attention: true });
  const masked = await translator.translate(sentences[2], { maskedHeads: [head], attention: true, internals: true });
  assert.notEqual(masked.score, plain.score);
  // Nothing before the first layer's attention has changed; the second layer's has.
  const map = ({ attention }, layer) => attention.encoder.map(layer, 2);
  map(masked, 0).forEach((p, i) => close(p, map(plain, 0)[i], 1e-5));
  assert.ok(map(masked, 1).some((p, i) => Math.abs(p - map(plain, 1)[i]) > 1e-4));
  const { output } = masked.internals.encoder.layers[0].selfAttention;
  const width = output.columns / translator.info.config.num_heads;
  output.data.forEach((x, i) => assert.equal(x === 0, Math.floor((i % output.columns) / width) === 2));
  const scores = [masked.score];
  for (const attention of ['decoder', 'cross']) {
    scores.push((await translator.translate(sentences[2], { maskedHeads: [{ ...head, attention }] })).score);
  }
  scores.push((await translator.translate(sentences[2], { maskedHeads: [head, { ...head, attention: 'cross' }] })).score);
  assert.equal(new Set(scores).size, 4);
});

test('masks must name existing tokens and heads', async () => {
  const refused = (options, message) => assert.rejects(translator.translate(sentences[0], options), { message });
  await refused({ maskedSource: [6] }, /source position 6 is not in the 6 tokens/);
  await refused({ maskedSource: [0, 1, 2, 3, 4, 5] }, /all 6 tokens of a sentence are masked; one must stay/);
  await refused({ maskedHeads: [{ attention: 'decoder', layer: 2, head: 0 }] },
    /^\[translate\] maskedHeads\[0\] is layer 2, head 0, but there are 2 layers of 4 heads/);
  await refused({ prefix: [1000] }, /token 1000; the vocabulary has 1000/);
});

test("the beam's tree holds the translation, adds up, and says why nodes were dropped", async () => {
  const options = { beamSize: 3, nBest: 3, maxLength: 20 };
  const { beam, ...found } = await translator.translate(sentences[2], { ...options, beamTrace: true });
  assert.deepEqual(found, await translator.translate(sentences[2], options));
  const { bos_id, eos_id } = translator.info.config;
  assert.deepEqual(beam[0], {
    parent: -1, piece: '<s>', id: bos_id, logProbability: 0, sum: 0, score: 0, length: 0, state: 'kept',
  });
  const reasons = new Set();
  const kept = [];
  beam.slice(1).forEach((node, i) => {
    const parent = beam[node.parent];
    assert.ok(node.parent >= 0 && node.parent <= i && parent.state === 'kept');
    assert.equal(node.length, parent.length + 1);
    close(node.sum, parent.sum + node.logProbability, 1e-6);
    close(node.score, node.sum / ((5 + node.length) / 6) ** 0.6, 1e-9);
    assert.equal('reason' in node, node.state === 'pruned');
    assert.equal('hypothesis' in node, node.state === 'ended');
    reasons.add(node.reason);
    if (node.reason === 'beam' || node.id === eos_id) return;
    kept[node.length] = (kept[node.length] ?? 0) + 1;
  });
  assert.ok(reasons.has('beam'));
  assert.deepEqual(new Set(kept.slice(1)), new Set([3]));
  const ended = beam.filter(({ state }) => state === 'ended').sort((a, b) => b.score - a.score);
  [found, ...found.alternatives].forEach((hypothesis, place) => {
    const leaf = ended[place];
    assert.equal(leaf.hypothesis, place);
    assert.equal(leaf.score, hypothesis.score);
    const path = [];
    for (let node = leaf; node.parent >= 0; node = beam[node.parent]) path.unshift(node.id);
    assert.deepEqual(path, ids(hypothesis));
  });
  // A node that was pruned can be gone on from.
  const pruned = beam.find(({ reason, id, length }) => reason === 'beam' && length === 2 && id !== eos_id);
  const path = [beam[pruned.parent].id, pruned.id];
  assert.deepEqual(ids(await translator.translate(sentences[2], { ...options, prefix: path })).slice(0, 2), path);
});

test('internals reproduce the attention maps', async () => {
  const { internals, attention, sourceTokens, targetTokens } = await translator.translate(sentences[0], {
    internals: true, attention: true,
  });
  const { d_model, encoder_layers, decoder_layers, ffn_dim, num_heads } = translator.info.config;
  const [source, target, width] = [sourceTokens.length, targetTokens.length, d_model / num_heads];
  const every = [];
  const shaped = (numbers, rows, columns = d_model) => {
    assert.deepEqual([numbers.rows, numbers.columns, numbers.data.length], [rows, columns, rows * columns]);
    assert.equal(numbers.data.byteLength, numbers.data.buffer.byteLength, 'a copy of its own');
    every.push(numbers.data.buffer);
  };
  const check = ({ queries, keys, values, output, projected }, maps, layer, causal) => {
    [queries, output, projected].forEach((numbers) => shaped(numbers, maps.rows));
    [keys, values].forEach((numbers) => shaped(numbers, maps.columns));
    for (let head = 0; head < num_heads; head++) {
      for (let row = 0; row < maps.rows; row++) {
        const at = (numbers, i, c) => numbers.data[i * d_model + head * width + c];
        const features = Array.from({ length: width }, (_, c) => c);
        const weights = Array.from({ length: maps.columns }, (_, j) => causal && j > row ? 0
          : Math.exp(features.reduce((dot, c) => dot + at(queries, row, c) * at(keys, j, c), 0) / Math.sqrt(width)));
        const total = weights.reduce((a, b) => a + b);
        const map = maps.map(layer, head).subarray(row * maps.columns, (row + 1) * maps.columns);
        weights.forEach((weight, j) => close(weight / total, map[j], 1e-5));
        for (const c of features) {
          const expected = weights.reduce((sum, weight, j) => sum + (weight / total) * at(values, j, c), 0);
          close(expected, at(output, row, c), 1e-5);
        }
      }
    }
  };
  const { encoder, decoder } = internals;
  assert.equal(encoder.layers.length, encoder_layers);
  assert.equal(decoder.layers.length, decoder_layers);
  for (const [stack, rows] of [[encoder, source], [decoder, target]]) {
    for (const numbers of [stack.tokenEmbedding, stack.positions, stack.output]) shaped(numbers, rows);
    for (const layer of stack.layers) {
      for (const name of ['afterSelfAttention', 'afterFeedForward']) shaped(layer[name], rows);
      shaped(layer.feedForward.hidden, rows, ffn_dim);
      shaped(layer.feedForward.output, rows);
    }
    // Post-norm: what the last layer leaves is what the stack does.
    assert.deepEqual(stack.layers.at(-1).afterFeedForward.data, stack.output.data);
  }
  encoder.layers.forEach((layer, i) => {
    check(layer.selfAttention, attention.encoder, i, false);
    assert.equal(layer.crossAttention ?? layer.afterCrossAttention, undefined);
  });
  decoder.layers.forEach((layer, i) => {
    check(layer.selfAttention, attention.decoder, i, true);
    check(layer.crossAttention, attention.cross, i, false);
    shaped(layer.afterCrossAttention, target);
  });
  assert.equal(new Set(every).size, every.length);
});

test('beam and internals are missing unless requested, and for an empty text', async () => {
  const absent = ({ beam, internals }) => assert.deepEqual([beam, internals], [undefined, undefined]);
  absent(await translator.translate(sentences[0]));
  const [empty, one] = await translator.translate(['', sentences[0]], { beamTrace: true, internals: true });
  absent(empty);
  assert.ok(one.beam.length > 1 && one.internals.encoder.layers.length > 0);
});
