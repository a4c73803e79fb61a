// The beam as a tree: its best leaf is the translation, and the search goes on from any node.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, laptop, phone, show, start } from './support.mjs';
import { load, native, watchWorkers, width, withView } from './views.mjs';

let site, pure;
const sentence = expected[1].source;
const address = `#beam?${new URLSearchParams({ text: sentence })}`;
before(async () => {
  site = await start();
  pure = await load('picture/beam.ts');
});
after(() => site.stop());

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

const selected = (page) => page.locator('[role=treeitem][aria-selected=true]');
const panel = (page) => page.getByTestId('node');
const first = (page) => page.locator('tbody tr').first();
const whenSearched = (page) => page.locator('[role=treeitem]').nth(10).waitFor();

test('the best leaf is the translation; nodes show their fate and their attention', () =>
  withView(site, laptop, address, async (page) => {
    await whenSearched(page);
    const { text } = native(sentence);
    assert.equal(await first(page).getByRole('button').innerText(), text);
    assert.match(await selected(page).getAttribute('aria-label'), /^end 1\. “end”, .* ranked 1 by score\.$/);
    assert.equal(await panel(page).getByRole('heading').first().innerText(), text);
    // A node in the middle: its text is the beginning, its map has a row for each of its pieces, and each sums to 1.
    const third = page.locator('[role=treeitem].best[aria-level="4"]');
    await third.click();
    const beginning = await panel(page).getByRole('heading').first().innerText();
    assert.ok(text.startsWith(beginning) && beginning.split(' ').length === 3, beginning);
    await page.locator('[role=application][data-rows="3"]').waitFor();
    await page.getByRole('treeitem', { name: 'Pruned: better' }).last().click();
    assert.match(await page.getByTestId('said').innerText(), /Pruned: better prefixes filled the beam\. .*sum of −[\d.]+, this one −[\d.]+/);
    const all = await page.locator('[role=treeitem]').count();
    await page.getByLabel('Show pruned branches').click();
    assert.ok((await page.locator('[role=treeitem]').count()) < all);
    assert.equal(await page.locator('[data-state=pruned]').count(), 0);
    await page.getByLabel('Show pruned branches').click();
    await show(page, 'beam-laptop');
  }));

test('the search continues from a node, as the native program does from that prefix', () =>
  withView(site, laptop, address, async (page) => {
    await whenSearched(page);
    const other = page.locator('[role=treeitem][aria-level="2"]:not(.best)').first();
    await other.click();
    const beginning = await panel(page).getByRole('heading').first().innerText();
    await page.getByTestId('said').getByRole('button', { name: 'Continue from here' }).click();
    await page.getByText(`The search continues from “${beginning}”.`).waitFor();
    const { text } = native(sentence, '--prefix', beginning);
    await first(page).getByRole('button', { name: text, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Search from the start' }).click();
    await first(page).getByRole('button', { name: native(sentence).text, exact: true }).waitFor();
  }));

test("the picture's output box opens the beam search, the breadcrumb names it, and Escape leads back", () =>
  withView(site, { ...laptop, reducedMotion: 'reduce' }, address.replace('beam', 'picture'), async (page) => {
    const output = page.locator('[data-place="out.beam"]');
    await output.click();
    await whenSearched(page);
    const crumbs = page.getByTestId('crumbs').locator('li');
    assert.deepEqual(await crumbs.allInnerTexts(), ['Model', 'Beam search']);
    await page.waitForFunction(() => location.hash.startsWith('#beam?'));
    await page.reload();
    await whenSearched(page);
    await selected(page).focus();
    await page.keyboard.press('Escape');
    await page.getByTestId('scene').waitFor({ state: 'detached' });
    await page.waitForFunction(() => location.hash.startsWith('#picture?') && document.activeElement.dataset.place === 'out.beam');
  }));

test('a beam search opened from an experiment leads back there, and leaving it ends the search', () =>
  withView(site, { ...laptop, reducedMotion: 'reduce' }, address.replace('beam', 'intervene'), async (page) => {
    await page.locator('[data-place="out.beam"]').click();
    await whenSearched(page);
    await selected(page).focus();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => location.hash.startsWith('#intervene?'));
    await page.getByRole('switch').first().waitFor();
    await page.locator('[data-place="out.beam"]').click();
    await whenSearched(page);
    await page.evaluate(() => {
      window.asked.push = function (request) {
        if (request.method === 'translate' && JSON.parse(request.wanted.options).beamTrace) {
          window.left = request.id;
          location.hash = '#translate';
        }
        return Array.prototype.push.call(this, request);
      };
    });
    await page.getByRole('slider', { name: 'Beam size' }).press('End');
    await page.waitForFunction(() => window.asked.some(({ type, id }) => type === 'abort' && id === window.left));
  }, watchWorkers));

test('by keyboard: through the tree, and the length penalty changes the ranking', () =>
  withView(site, laptop, address, async (page) => {
    await whenSearched(page);
    await selected(page).focus();
    const level = async () => Number(await selected(page).getAttribute('aria-level'));
    const end = await level();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await level(), end - 2);
    await page.keyboard.press('ArrowRight');
    assert.equal(await level(), end - 1);
    await page.keyboard.press('Home');
    assert.equal(await level(), 1);
    await page.keyboard.press('ArrowRight');
    const above = await selected(page).getAttribute('data-node');
    await page.keyboard.press('ArrowDown');
    assert.equal(await level(), 2);
    assert.notEqual(await selected(page).getAttribute('data-node'), above);
    const scores = async () => (await page.locator('tbody td:last-child').allInnerTexts()).map((text) => Number(text.replace('−', '-')));
    const before = await scores();
    await page.getByRole('slider', { name: 'Length penalty' }).focus();
    await page.keyboard.press('End');
    const after = await scores();
    assert.notDeepEqual(after, before);
    assert.deepEqual(after, after.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Search again with α = 3.0' }).press('Enter');
    const { text } = native(sentence, '--length-penalty', '3');
    await first(page).getByRole('button', { name: text, exact: true }).waitFor();
    await page.getByRole('slider', { name: 'Beam size' }).focus();
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  }));

test('phone: the tree scrolls in its own area', () =>
  withView(site, phone, address, async (page) => {
    await whenSearched(page);
    assert.equal(await width(page), phone.viewport.width);
    await page.locator('[role=treeitem][aria-level="3"].best').tap();
    await page.locator('[role=application][data-rows="2"]').waitFor();
    assert.equal(await width(page), phone.viewport.width);
    await show(page, 'beam-phone');
  }));
