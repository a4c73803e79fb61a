// What an attention map says and where it is drawn, without a browser.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { load } from './load.mjs';

let pure;
before(async () => {
  const [numbers, drawing] = await load(['shared/attention/attention.ts', 'shared/attention/drawing.ts']);
  pure = { ...numbers, ...drawing };
});

/** A map with these rows. */
const mapOf = (...rows) => ({ data: Float32Array.from(rows.flat()), rows: rows.length, columns: rows[0].length });
/** Keeps what it is told to draw. */
const pen = () => ({
  rects: [],
  links: [],
  cells(xs, ys, w, h, colour) {
    ys.forEach((y, r) => xs.forEach((x, c) => this.rect(x, y, w, h, colour(r * xs.length + c))));
  },
  rect(...rect) {
    this.rects.push(rect);
  },
  hatched: 0,
  lines() {
    this.hatched++;
  },
  link(...link) {
    this.links.push(link);
  },
  text() {},
});

test('entropy is computed per row, in bits', () => {
  const { entropy } = pure;
  const rows = mapOf([1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.25, 0]);
  assert.deepEqual([0, 1, 2].map((row) => entropy(rows, row)), [0, 2, 1.5]);
});

test('the best aligned head attends to the pieces that matter, not to their neighbors', () => {
  const { bestAligned } = pure;
  const beside = [0, 0, 1, 1, 0, 0, 0, 1, 0]; // one step late, and as sharp
  const right = [0.7, 0.2, 0.1, 0.2, 0.7, 0.1, 0.1, 0.2, 0.7];
  const maps = { data: Float32Array.from([...beside, ...right]), layers: 1, heads: 2, rows: 3, columns: 3 };
  const effects = mapOf([3, 0, 0], [0.5, 2, 0], [0.01, 0.02, 0.05]); // the last row depends on no piece
  const best = bestAligned(maps, effects);
  assert.deepEqual([best.layer, best.head], [0, 1]);
  assert.ok(Math.abs(best.share - 0.7) < 1e-6);
  assert.equal(bestAligned(maps, mapOf([0, 0, 0], [0, 0, 0], [0, 0, 0])), null);
});

test('each cell is drawn where the pointer finds it', () => {
  const { layOut, draw, locate } = pure;
  const weights = mapOf([0.9, 0.1, 0], [0.01, 0.49, 0.5]);
  const rows = ['▁a', 'b'];
  const columns = ['▁x', 'y', '</s>'];
  const labels = { rows, columns, entropy: 'entropy' };
  const colours = { ramp: Array.from({ length: 256 }, (_, i) => [i, i, i]), ink: '', muted: 'muted', rule: 'rule', attention: 'attention' };
  for (const room of [300, 900]) {
    const layout = layOut('heat', rows, columns, labels, (text) => 8 * text.length, room, 16);
    assert.ok(layout.width <= room);
    const drawn = pen();
    draw(drawn, { layout, map: weights, labels, colours });
    const cells = drawn.rects.slice(0, 6);
    assert.deepEqual(cells.map((cell) => cell[4]), Array.from(weights.data, (w) => Array(3).fill(Math.round(w * 255))));
    cells.forEach(([x, y, w, h], i) =>
      assert.deepEqual(locate(layout, x + w / 2, y + h / 2), { row: Math.floor(i / 3), column: i % 3 }));
    assert.deepEqual(locate(layout, 2, layout.top + 1), { row: 0, column: null }, 'a row by its label');
    assert.equal(locate(layout, layout.left + layout.xs[1] + 1, layout.top - 1).column, 1, 'a column by its label');
  }
  const lines = layOut('lines', rows, columns, labels, (text) => 8 * text.length, 600, 16);
  const drawn = pen();
  draw(drawn, { layout: lines, map: weights, labels, colours });
  assert.equal(drawn.links.length, 4, 'links below 2% are left out');
});

test('a map fits a given height, and masked cells stay empty', () => {
  const { layOut, draw } = pure;
  const pieces = Array.from({ length: 14 }, (_, i) => `▁w${i}`);
  const labels = { rows: pieces, columns: pieces, entropy: 'entropy' };
  const lay = (tall) => layOut('heat', pieces, pieces, labels, (text) => 8 * text.length, 900, 16, tall);
  assert.ok(lay().height > 400);
  const layout = lay(400);
  assert.ok(layout.height <= 400, `${layout.height}`);
  const colours = { ramp: Array(256).fill([1, 2, 3]), muted: 'muted', rule: 'rule', paper: 'paper' };
  const drawn = pen();
  draw(drawn, { layout, map: mapOf(...pieces.map(() => pieces.map(() => 1 / 14))), masked: true, labels, colours });
  const empty = drawn.rects.filter((rect) => rect[4] === 'paper');
  const hidden = (row, column) => {
    const [left, top] = [layout.left + layout.xs[column], layout.top + layout.ys[row]];
    return empty.some(([x, y, w, h]) => x <= left && left < x + w && y <= top && top < y + h);
  };
  for (const [row, column] of [[0, 1], [0, 13], [6, 7], [12, 13]]) assert.ok(hidden(row, column), `${row}, ${column}`);
  for (const [row, column] of [[0, 0], [6, 6], [13, 0], [13, 13]]) assert.ok(!hidden(row, column), `${row}, ${column}`);
  assert.ok(drawn.hatched > 0, 'what is hidden is hatched');
});

test('in large type, the names of columns are as far apart as lines of it', () => {
  const { layOut } = pure;
  const pieces = Array.from({ length: 11 }, (_, i) => `▁word${i}`);
  const labels = { rows: pieces, columns: pieces, entropy: 'entropy' };
  for (const size of [16, 26]) {
    const { xs, slant } = layOut('heat', pieces, pieces, labels, (text) => size * 0.5 * text.length, 14 * size, size);
    const apart = (xs[1] - xs[0]) * Math.sin(slant);
    assert.ok(apart >= 0.8 * size, `${apart} px between names of ${size} px`);
  }
});
