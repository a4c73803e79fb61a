// Step by step: the numbers that the page computes before one's eyes are those of the model.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, laptop, phone, show, start } from './support.mjs';
import { load, native, width, withView } from './views.mjs';

let site, pure;
const sentence = expected[1].source;
const address = `#steps?${new URLSearchParams({ text: sentence })}`;
before(async () => {
  site = await start();
  pure = await load('attention/arithmetic.ts');
});
after(() => site.stop());

const numbers = (...rows) => ({ data: Float32Array.from(rows.flat()), rows: rows.length, columns: rows[0].length });
const near = (a, b, most = 1e-5) => assert.ok(Math.abs(a - b) < most, `${a} is not ${b}`);

test('the arithmetic of a cell, by hand', () => {
  const { arithmetic } = pure;
  // Two heads of four numbers; the second one is looked at.
  const internals = {
    queries: numbers([9, 9, 9, 9, 1, 2, 0, -1]),
    keys: numbers([9, 9, 9, 9, 2, 0, 1, 0], [9, 9, 9, 9, 1, 1, 5, -1], [9, 9, 9, 9, 0, 0, 0, 0]),
    values: numbers([9, 9, 9, 9, 1, 0, 0, 0], [9, 9, 9, 9, 0, 1, 0, 4], [9, 9, 9, 9, 0, 0, 1, 0]),
  };
  const sum = arithmetic(internals, 2, 1, 0, 1, 3);
  assert.deepEqual([...sum.products], [1, 2, 0, 1]);
  assert.equal(sum.dot, 4);
  assert.deepEqual(sum.scores, [1, 2, 0]);
  const all = Math.E + Math.E ** 2 + 1;
  sum.weights.forEach((weight, i) => near(weight, [Math.E, Math.E ** 2, 1][i] / all));
  near(sum.output[3], (4 * Math.E ** 2) / all);
  assert.deepEqual(arithmetic(internals, 2, 1, 0, 1, 3, false).scores, [2, 4, 0]);
  const causal = arithmetic(internals, 2, 1, 0, 0, 2);
  assert.deepEqual(causal.scores, [1, 2, -Infinity]);
  assert.equal(causal.weights[2], 0);
});

test('norms are lengths of rows; the residual stream goes through every sublayer', () => {
  const { norms, residual } = pure;
  assert.deepEqual(norms(numbers([3, 4], [0, 2])), [5, 2]);
  const row = numbers([3, 4]);
  const layer = { afterSelfAttention: row, afterCrossAttention: row, afterFeedForward: row };
  const stack = { tokenEmbedding: numbers([1, 0]), positions: numbers([0, 1]), layers: [layer, layer] };
  assert.deepEqual(residual(stack).map(({ stage }) => stage), ['input', 'self', 'cross', 'feedForward', 'self', 'cross', 'feedForward']);
  near(residual(stack)[0].norms[0], Math.SQRT2);
});

const place = (page) => page.getByTestId('step').innerText();
const ready = (page) => page.getByTestId('step').waitFor();
/** The page's own weight of the cell, and the model's. */
async function weights(page) {
  const text = await page.getByTestId('weight').innerText();
  const own = Number(await page.getByTestId('weight').locator('mn').last().textContent());
  return [own, Number(text.match(/the model’s own value: ([\d.]+)/)[1])];
}

test('every step by mouse; in each, the arithmetic gives the weight of the model and of the native program', () =>
  withView(site, laptop, address, async (page) => {
    await ready(page);
    const wanted = native(sentence);
    const [sources, layers] = [wanted.source_tokens.length, wanted.encoder.layers];
    const steps = 2 + layers + wanted.cross.rows;
    assert.match(await place(page), new RegExp(`^Step 1 of ${steps}:`));
    assert.equal(await page.locator('.ids li').count(), sources);
    const next = page.getByRole('button', { name: 'Next' });
    await next.click();
    assert.equal(await page.locator('figure').count(), 3, 'embeddings, positions and their sum');
    assert.ok((await page.locator('math').count()) >= 3, 'with their formulas');
    await show(page, 'steps-embedding-laptop');
    for (let layer = 0; layer < layers; ++layer) {
      await next.click();
      const [own, model] = await weights(page);
      const { columns, heads, data } = wanted.encoder;
      near(own, model, 2e-3);
      const row = data.slice(layer * heads * sources * columns, layer * heads * sources * columns + columns);
      near(own, Math.max(...row), 2e-3); // the first row's strongest cell of head 1
    }
    for (let step = 0; step < 3; ++step) {
      await next.click();
      const [own, model] = await weights(page);
      near(own, model, 2e-3);
      const { columns, rows, heads, layers, data } = wanted.cross;
      const begin = (layers - 1) * heads * rows * columns + step * columns;
      near(own, Math.max(...data.slice(begin, begin + columns)), 2e-3);
      const bars = page.locator('table').first();
      assert.equal((await bars.locator('.chosen th').innerText()).trim(), wanted.target_tokens[step].replace('▁', ''));
      const shares = (await bars.locator('td:nth-child(2)').allInnerTexts()).map(parseFloat);
      near(shares.reduce((a, b) => a + b), 100, 4);
    }
    // Another cell, by a click in the map; another attention, layer and head.
    await page.getByText('Self-attention', { exact: true }).click();
    await page.locator('fieldset', { hasText: 'Layer' }).getByText('1', { exact: true }).click();
    await page.locator('fieldset', { hasText: 'Head' }).getByText('2', { exact: true }).click();
    const canvas = page.locator('[role=application] canvas').last();
    const box = await canvas.boundingBox();
    await canvas.click({ position: { x: 90, y: box.height - 40 } });
    const [own, model] = await weights(page);
    near(own, model, 2e-3);
    assert.match(await page.getByTestId('arithmetic').innerText(), /Self-attention, layer 1, head 2: how much “.+” attends to “.+”/);
    await show(page, 'steps-decoding-laptop');
  }));

test('by keyboard: play, pause, the timeline, and the cells', () =>
  withView(site, laptop, address, async (page) => {
    await ready(page);
    await page.getByRole('button', { name: 'Play' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText(/^Step 2 of/).waitFor();
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    const at = await place(page);
    await page.getByRole('slider', { name: 'Steps' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await place(page), at);
    await page.keyboard.press('End');
    assert.match(await place(page), /“end”$/);
    assert.equal((await page.getByTestId('written').innerText()).split(/\s+/).length, native(sentence).target_tokens.length + 0);
    await page.getByRole('application').focus();
    await page.keyboard.press('ArrowDown');
    const before = await page.getByTestId('dot').textContent();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await page.getByTestId('dot').textContent(), before);
    const [own, model] = await weights(page);
    near(own, model, 2e-3);
    assert.equal(await page.locator('.norms svg .axes text').filter({ hasText: /\S/ }).count() > 12, true, 'the norms have axes');
  }));

test('phone: all steps fit', () =>
  withView(site, phone, address, async (page) => {
    await ready(page);
    for (const step of [1, 2, 4, 8]) {
      await page.getByRole('slider', { name: 'Steps' }).fill(String(step));
      assert.equal(await width(page), phone.viewport.width, `step ${step}`);
    }
    await show(page, 'steps-phone');
  }));
