// Figure 1 backwards without a browser: boxes, shades, and the drawing turned round.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { load } from './load.mjs';

let gradients, geometry;
before(async () => {
  [gradients, geometry] = await load(['backwards/gradients.ts', 'picture/geometry.ts']);
});

const box = (stack, part, norm, layer, heads = []) => {
  const tokens = Float32Array.of(norm, 0);
  return { stack, part, norm, ...(layer !== undefined && { layer }), tokens, heads: Float32Array.from(heads), parameterNorm: 1 };
};
const pass = {
  boxes: [
    box('encoder', 'embedding', 0.02), box('encoder', 'selfAttention', 0.1, 0, [3, 4, 0, 0.5]), box('encoder', 'selfAttentionNorm', 0.2, 0),
    box('decoder', 'crossAttentionNorm', 0.3, 1), box('decoder', 'outputNorm', 1), box('output', 'output', 2),
  ],
};

test('each gradient belongs to a box of the picture', () => {
  assert.deepEqual([...gradients.gradientsByBox(pass).keys()],
    ['enc.embed', 'enc.1.self', 'enc.1.selfNorm', 'dec.2.crossNorm', 'dec.norm', 'out.linear']);
});

test('shades are logarithmic, end at the greatest norm, and are none for nothing', () => {
  const { shade, greatestNorm, DECADES } = gradients;
  const greatest = greatestNorm(pass);
  assert.equal(greatest, 2);
  assert.equal(shade(2, greatest), 1);
  assert.ok(Math.abs(shade(0.2, greatest) - (1 - 1 / DECADES)) < 1e-9);
  assert.equal(shade(5, greatest), 1);
  for (const none of [0, Number.NaN, greatest * 10 ** -(DECADES + 1)]) assert.equal(shade(none, greatest), 0);
  assert.equal(shade(1, 0), 0);
});

test('an attention has a row for each head, another box one for all', () => {
  const attention = pass.boxes[1];
  assert.equal(gradients.headsOf(attention), 2);
  assert.deepEqual(gradients.rowOf(attention, 0), [3, 0]);
  assert.deepEqual(gradients.rowOf(attention, 1), [4, 0.5]);
  assert.equal(gradients.headsOf(pass.boxes[0]), 0);
  assert.ok(Math.abs(gradients.normOf(gradients.rowOf(attention, 1)) - Math.hypot(4, 0.5)) < 1e-9);
});

test('the way of the gradient: from the output to the embedding of the source', () => {
  const both = { boxes: [...pass.boxes, box('decoder', 'embedding', 0.5)] };
  assert.deepEqual(gradients.passage(both), { top: 2, bottom: 0.02, own: 0.5, factor: 0.01, ownFactor: 0.25 });
});

test('connectors are turned round, and what only a search has is left out', () => {
  const sizes = { encoderLayers: 2, decoderLayers: 2, heads: 4, norm: 'pre' };
  const there = geometry.layOut(sizes);
  const back = gradients.reversed(there);
  assert.ok(!back.boxes.some(({ id }) => id === 'out.beam' || id === 'out.softmax'));
  assert.ok(!back.wires.some(({ kind }) => kind === 'loop'));
  const wire = ({ wires }) => wires.find(({ to }) => to === 'out.linear').points;
  assert.deepEqual(wire(back), wire(there).toReversed());
});
