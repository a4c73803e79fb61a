// The beam search as a tree: its ranking and its places.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { load } from './load.mjs';

let pure;
before(async () => (pure = { ...(await load('picture/beam.ts')), ...(await load('shared/text/length-penalty.ts')) }));

const node = (parent, piece, logProbability, sum, length, more = {}) =>
  ({ parent, piece, id: length, logProbability, sum, length, score: sum / ((5 + length) / 6) ** 0.6, state: 'kept', ...more });
const small = [
  node(-1, '<s>', 0, 0, 0),
  node(0, '▁a', -0.5, -0.5, 1),
  node(0, '▁b', -1, -1, 1, { state: 'pruned', reason: 'beam' }),
  node(1, '</s>', -1, -1.5, 2, { state: 'ended', hypothesis: 0 }),
  node(1, 'c', -0.6, -1.1, 2),
  node(4, '▁d', -0.2, -1.3, 3),
  node(5, '</s>', -0.4, -1.7, 4, { state: 'ended', hypothesis: 1 }),
];

test('the length penalty follows Wu et al. and changes the order', () => {
  const { lengthPenalty, rank, pathTo, textOf } = pure;
  assert.equal(lengthPenalty(1, 0.6), 1);
  assert.ok(Math.abs(lengthPenalty(7, 1) - 2) < 1e-12);
  assert.deepEqual(rank(small, 0).map(({ index }) => index), [3, 6], 'without a penalty the shorter one wins');
  assert.deepEqual(rank(small, 1).map(({ index }) => index), [6, 3]);
  assert.ok(Math.abs(rank(small, 1)[0].score + 1.7 / 1.5) < 1e-12);
  assert.deepEqual(pathTo(small, 6), [1, 4, 5, 6]);
  assert.equal(textOf(small, pathTo(small, 6)), 'ac d');
});

test('the tree has a column for each step, and no two nodes overlap', () => {
  const { placeTree } = pure;
  const { places, width, height } = placeTree(small, true, small.map(() => 40), 20, 10);
  assert.equal(places.length, small.length);
  for (const { index, x, y, children } of places) {
    assert.equal(x, 50 * small[index].length);
    assert.ok(x + 40 <= width && y > 0 && y < height);
    for (const child of children) assert.equal(small[child].parent, index);
  }
  assert.equal(new Set(places.map(({ x, y }) => `${x} ${y}`)).size, small.length);
  const y = (wanted) => places.find(({ index }) => index === wanted).y;
  assert.deepEqual([0, 1, 4, 5, 6].map(y), Array(5).fill(y(0)), 'the best path is straight'); // by the scores of the search
  assert.deepEqual(placeTree(small, false, small.map(() => 40), 20, 10).places.map(({ index }) => index).toSorted(),
    [0, 1, 3, 4, 5, 6]);
});
